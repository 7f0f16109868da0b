"""Rodriguez Abella, Silvestre and Tabuada: attention on spheres and ellipsoids (AB-*)."""

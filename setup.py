"""The map from folders to one import package.

``theory/`` is ``eigentoken.theory``, and so for each room; the face is in ``src/``.  Subpackages of a room are found,
not listed.  Everything else about the project is in ``pyproject.toml``.
"""

from setuptools import find_packages, setup

ROOMS = ("theory", "numerics", "models", "proofs")


def rooms_as_packages() -> tuple[list[str], dict[str, str]]:
    packages = find_packages("src")
    folders = {"": "src"}
    for room in ROOMS:
        name = f"eigentoken.{room}"
        folders[name] = room
        packages += [name, *(f"{name}.{sub}" for sub in find_packages(room))]
    return packages, folders


packages, package_dir = rooms_as_packages()
setup(packages=packages, package_dir=package_dir)

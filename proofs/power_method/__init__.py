"""Li and Altafini: transformer layers and the power method (PM-*, CT-*)."""

"""The page Dependence: `dependences` (what it speaks of), and a file for each of its parts."""

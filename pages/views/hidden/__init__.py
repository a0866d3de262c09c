"""The page Hidden labels: `player` (the film), `fits` (cached runs), and a file for each of its parts."""

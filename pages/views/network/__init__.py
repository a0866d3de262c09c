"""The page Network: `source` (which network, and as what the URL holds it), `draw` (the drawing), and a file for each
of its tabs and of what the tab *ask* opens."""

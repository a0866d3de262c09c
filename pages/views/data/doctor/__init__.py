"""The doctor on the page Data: `report` (what was found), `heads` (the table with it), `findings` (each with its
buttons), `mends` (what a button does), `fitting` (three models), `said` (all of it in words)."""

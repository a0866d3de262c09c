"""The doctor on the page Data: `report` (what was found), `heads` (the table with it), `findings` (each with its
buttons), `edits` (what a button does), `suggested_models` (three models), `wording`."""

from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import reading, required
from pages.active.files import SECOND_FILE
from pages.runtime.escape import md
from pages.runtime.state import current, end_page
from pages.shell.frame import title
from pages.views.classify import columns_taken, file_given, large_file, results, rows
from pages.views.classify.judged import judge

title()
table = required.fittable(active.table_in_use())
fitted = required.model(table)
drop, wanted = st.columns([2, 3], gap="medium")
with drop:
    file_given.file_drop()
with wanted:
    file_given.columns_wanted(table)
large_file.classify_large_file(table, fitted)
upload = file_given.file_in_use(table)
if upload is None:
    if SECOND_FILE.named(current()):
        st.info(_("This link refers to a second file that was given elsewhere; drop the same file here again."))
    file_given.offer_example(table)
    end_page()
file_given.offer_similar_columns(table, fitted, upload)
absent = columns_taken.absent(table, fitted, upload)
try:
    columns_taken.doubtful_columns(table, absent)
    judged = judge(table, fitted, upload)
except BayesEngineError as error:
    file_given.refuse(table, upload, error.message)
    columns_taken.choose(table, fitted, upload, (), open_=True)
    reading.reading_choices(upload, columns_taken.kept_where_the_names_are)
    end_page()
columns_taken.doubtful_columns(table, doubts := judged.rows.doubts)
columns_taken.choose(table, fitted, upload, doubts, open_=False)

result = results.Results(judged)
st.subheader(md(upload.name), divider="gray")
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    rows.counts(judged)
    with st.container(width="content"):
        results.download(result)
results.write_if_asked(result)

# the rows, with their reasons; then what was found in the file
rows.row_table(judged)
rows.against_truth(judged)
rows.bad_cells(judged)
of_rows = [note for note in judged.rows.notes if note not in (*absent, *doubts)]
reading.reading_notes((*upload.reading.report, *of_rows), upload, columns_taken.kept_where_the_names_are)
reading.reading_choices(upload, columns_taken.kept_where_the_names_are)

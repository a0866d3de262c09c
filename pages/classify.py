from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.workbench.incoming.batch import tally, template_csv
from pages import active
from pages.active import reading, words
from pages.active.ready import ready
from pages.runtime.escape import md
from pages.runtime.state import current, finish
from pages.views.classify import results

table = active.table_in_use()
st.title(_("What does the model say of other rows?"))
fitted = ready(table)
loss, use = active.losses(table), active.prior_of_use(table)

drop, wanted = st.columns([2, 3], gap="medium")
with drop:
    results.drop()
with wanted:
    names = table.features.names
    st.markdown(
        _(
            "A file with the columns {names}, in any order. Other columns come back untouched; if {target} is among "
            "them, right and wrong decisions are counted."
        ).format(
            names=_(", ").join(f"**{md(name, 30)}**" for name in names[:12]) + (" …" if names[12:] else ""),
            target=f"**{md(table.target.name, 30)}**",
        )
    )
    if table.amount_column:
        st.markdown(
            _("Its column {column} multiplies each row's losses; without it they are taken per unit.").format(
                column=f"**{md(table.amount_column, 30)}**"
            )
            if loss.by_amount is None
            else _("Its column {column} multiplies some of each row's losses: a row is decided at its own.").format(
                column=f"**{md(table.amount_column, 30)}**"
            )
        )
    st.download_button(
        _("A file to fill in"),
        template_csv(results.needed(table)),
        "rows.csv",
        "text/csv",
        key="template",
        icon=":material/download:",
        on_click="ignore",
        help=_("The header the model expects, and two rows of the table as examples."),
    )

upload = results.given()
if upload is None:
    if current().seen("second", ""):
        st.info(_("This link speaks of a second file that was given elsewhere; drop the same file here again."))
    finish()
results.offer_alike(table, fitted, upload)
try:
    rows, scored = results.scored(table, fitted, upload, loss)
    decision = scored.decide(loss, use, amount=rows.amount)
except BayesEngineError as error:
    st.error(_("'{file}' cannot be classified: {why}.").format(file=md(upload.name), why=error.message.local(md)))
    reading.how_read(upload, "read_second", lambda state, _before, _after: state, typed=False)
    finish()

# what was decided
count = tally(rows, decision, loss, table.classes, amount=rows.amount)
result = results.Results(table, fitted, upload, rows, scored, loss, use)
st.subheader(md(upload.name), divider="gray")
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    st.metric(_("rows"), f"{len(rows):,}", width="content")
    for action, n in count.actions.items():
        st.metric(words.deciding(table, action, md), f"{n:,}", width="content")
    if count.undecided:
        st.metric(_("not decided"), f"{count.undecided:,}", width="content")
    if count.known:
        st.metric(_("decided rightly"), f"{count.right:,} / {count.known:,}", width="content")
        st.metric(
            _("mean loss"),
            f"{count.mean_loss:.5g}",
            width="content",
            help=_("λ of the decision and the class the file names, over the rows that have both."),
        )
    with st.container(width="content"):
        results.download(result)
results.write_if_asked(result)

# the rows, with their reasons; then what was found in the file
results.row_table(table, fitted, rows, scored, loss, use)
results.against_truth(table, count, loss)
results.bad_cells(rows, count.undecided)
reading.notes((*upload.reading.report, *rows.notes), upload, "read_second", typed=False)
reading.how_read(upload, "read_second", lambda state, _before, _after: state, typed=False)

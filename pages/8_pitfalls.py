"""Where it goes wrong: eight stations, each something to do, its symptom, cause and cure."""

import streamlit as st

from specdec.ui import query, shell, stations

shell.begin("pitfalls")
keys = [station.key for station in stations.STATIONS]
link = query.read(st.query_params, station=query.Choice(keys[0], tuple(keys)))
key = st.radio(
    "Station",
    keys,
    keys.index(link.values["station"]),
    key="station",
    format_func=lambda key: stations.by_key(key).label,
    horizontal=True,
)
station = stations.by_key(key)
module = station.load()

# A link's other keys belong to the station that it opens.
params = st.query_params if key == link.values["station"] else {}
own = query.read(params, **getattr(module, "LIMITS", {}))
shell.notes(tuple(dict.fromkeys(link.notes + own.notes)))

st.header(station.label)
state = module.draw(own.values)

st.markdown(
    "**What to notice.** A symptom seldom names its cause: text that is wrong, text that is late "
    "and a rate that fell look alike from far away. · Where the rule is kept and the cache is "
    "true, a bad drafter costs time and never a word."
)
shell.share_link("pitfalls", station=key, **state)
for after in keys[keys.index(key) + 1 :][:1]:
    label = f"Next station: {stations.by_key(after).label}"
    st.button(label, on_click=st.session_state.update, args=({"station": after},))
shell.next_page("pitfalls")

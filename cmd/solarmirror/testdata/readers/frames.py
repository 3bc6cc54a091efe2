"""Loads every table of a mirror into pandas, as the recipe does, and prints what the columns became, as JSON. Argument: the file."""

import json
import sqlite3
import sys

import pandas as pd

db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
columns = []
for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name").fetchall():
    declared = {name: kind for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")}
    times = [name for name, kind in declared.items() if kind in ("DATE", "TIMESTAMP")]
    frame = pd.read_sql(f"SELECT * FROM {table}", db, parse_dates=times)
    stored = db.execute(f"SELECT * FROM {table}").fetchall()
    for i, (name, kind) in enumerate(declared.items()):
        values = frame[name]
        present, total = db.execute(f"SELECT count({name}), total({name}) FROM {table}").fetchone()
        wrong = ""
        if values.count() != present:
            wrong = f"{values.count()} values, not {present}"
        elif kind in ("REAL", "BIGINT", "INTEGER", "BOOLEAN") and abs(pd.to_numeric(values).sum() - total) > 1e-9 * abs(total):
            wrong = f"sums to {values.sum()}, not {total}"
        elif name in times:
            form = "%Y-%m-%d" if kind == "DATE" else "%Y-%m-%d %H:%M:%S.%f"
            wrong = next((f"{row[i]} became {moment}" for row, moment in zip(stored, values) if row[i] and moment.strftime(form)[:23] != row[i]), "")
        columns.append({
            "Table": table,
            "Column": name,
            "Dtype": str(values.dtype),
            "Values": int(values.count()),
            "Nulls": int(values.isna().sum()),
            "Wrong": wrong,
        })
json.dump(columns, sys.stdout)

"""Reads every table of a mirror through the SQLite ODBC driver and, value by value, through Python's sqlite3.

Arguments: the driver's library, the file, options of the connection string. Prints JSON: the type ODBC gives each column, how many
values and NULLs came, and the first value that came out otherwise than it stands in the file.
"""

import datetime
import json
import sqlite3
import sys

import pyodbc

driver, path, options = sys.argv[1:]
odbc = pyodbc.connect(f"DRIVER={driver};Database={path};{options}")
plain = sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def same(received, expected):
    """The driver passes numbers through text of 15 significant digits: cents are exact below ten million million."""
    if isinstance(received, float) and isinstance(expected, float):
        return f"{received:.15g}" == f"{expected:.15g}"
    return stored(received) == expected


def stored(value):
    """The form in which the file holds a value that came over ODBC."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


columns = []
for (table,) in plain.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name").fetchall():
    declared = {c.column_name: c for c in odbc.cursor().columns(table=table)}
    cursor = odbc.execute(f"SELECT * FROM {table}")
    received, expected = cursor.fetchall(), plain.execute(f"SELECT * FROM {table}").fetchall()
    for i, description in enumerate(cursor.description):
        name = description[0]
        if len(received) != len(expected):
            wrong = f"{len(received)} rows, not {len(expected)}"
        else:
            wrong = next((f"{e[i]!r} came as {r[i]!r}" for r, e in zip(received, expected) if not same(r[i], e[i])), "")
        columns.append({
            "Table": table,
            "Column": name,
            "TypeName": declared[name].type_name,
            "Type": declared[name].data_type,
            "Python": description[1].__name__,
            "Values": sum(r[i] is not None for r in received),
            "Nulls": sum(r[i] is None for r in received),
            "Wrong": wrong[:200],
        })

def both(query):
    return {"ODBC": odbc.execute(query).fetchval(), "File": plain.execute(query).fetchone()[0]}


sums = {
    "installments": both("SELECT sum(condition_quantity_of_installments) FROM request_payments WHERE condition_quantity_of_installments < 1e10"),
    "keys": both("SELECT sum(request_key * 1000000) FROM requests"),
    "count": both("SELECT count(*) FROM request_products"),
}
json.dump({"Columns": columns, "Sums": sums}, sys.stdout)

"""Reads every table of a mirror as LibreOffice does over ODBC, with its database driver in this process.

Arguments: the data source, a day. Prints what readers_test.go compares, as JSON.
"""

import json
import sys

import uno

DATE, TIMESTAMP = 91, 93
NUMBERS = (-7, 4, 8, 12)  # BIGINT has the type of text (12)

context = uno.getComponentContext()
driver = context.ServiceManager.createInstanceWithContext("com.sun.star.comp.sdbc.ODBCDriver", context)
db = driver.connect("sdbc:odbc:" + sys.argv[1], ())


def day(d):
    return f"{d.Year:04}-{d.Month:02}-{d.Day:02}"


def number(text):
    try:
        return float(text)
    except ValueError:
        return 0


def read(table, names):
    rows = db.createStatement().executeQuery(f"SELECT {', '.join(names)} FROM {table}")
    kinds = [rows.MetaData.getColumnType(i + 1) for i in range(len(names))]
    found = [[] for _ in names]
    while rows.next():
        for i, kind in enumerate(kinds, 1):
            if kind == DATE:
                value = rows.getDate(i)
            elif kind == TIMESTAMP:
                value = rows.getTimestamp(i)
            else:
                value = rows.getString(i)
            if rows.wasNull():
                continue
            if kind == DATE:
                value = day(value)
            elif kind == TIMESTAMP:
                value = f"{day(value)} {value.Hours:02}:{value.Minutes:02}:{value.Seconds:02}.{value.NanoSeconds // 1000000:03}"
            found[i - 1].append(value)
    for name, kind, values in zip(names, kinds, found):
        times = kind in (DATE, TIMESTAMP)
        yield {
            "Table": table,
            "Column": name,
            "Type": str(kind),
            "Values": len(values),
            "Total": sum(map(number, values)) if kind in NUMBERS else 0,
            "First": min(values, default="") if times else "",
            "Last": max(values, default="") if times else "",
        }


tables = {}
found = db.getMetaData().getColumns(None, "%", "%", "%")
while found.next():
    tables.setdefault(found.getString(3), []).append(found.getString(4))
columns = [c for table, names in tables.items() if not table.startswith("sqlite_") for c in read(table, names)]

since = []
query = db.prepareStatement("SELECT count(*) FROM bi_requests WHERE order_date >= ?")
query.setString(1, sys.argv[2])
rows = query.executeQuery()
rows.next()
since.append(rows.getInt(1))
json.dump({"Since": since, "Columns": columns}, sys.stdout)

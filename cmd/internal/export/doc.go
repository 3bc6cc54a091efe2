// Package export writes the mirror out as files: for those who outgrow one SQLite file, Parquet, which DuckDB, Spark, Trino and Athena read
// in place, or CSV ([Run]); for those who open it in Excel, one workbook ([Workbook]). All is read from one [store.Snapshot], so that the
// tables fit each other. Run writes every table of package schema; what follows is about it, but for the last section.
//
// # Layout
//
//	DIR/manifest.json
//	DIR/requests/month=2026-01/part.parquet     what belongs to a request
//	DIR/equipment_stock_history/month=…         what else grows for ever
//	DIR/equipments/part.parquet                 everything else
//	DIR/requests.csv                            CSV: one file per table
//
// Where a stream declares when its records were created ([schema.Stream].Created), a record, all
// that hangs under it and its history lie in that month, in UTC: an order's as an order, a budget's
// as a budget. Records without a date lie in month=__HIVE_DEFAULT_PARTITION__, which readers take
// for NULL. Records of other streams, as the catalogue, are one file per table, but for their
// history, which lies in the month of valid_from. Ledger and marts are one file per table. A month
// that has records has a file in each of their tables, with or without rows, and a table without
// any month has one file without rows, so that its columns can be read.
//
// # Only what changed
//
// The manifest remembers of each file what it was made from: a fingerprint of the records of its month, that is their keys and their
// bookkeeping (_changed_at, _deleted_at, _first_seen_at, _hash). Times alone would not do, because a page is committed after the
// moment in its _changed_at. Where the fingerprint is the same, and the file is still there with its size, it is not written again. A record that
// moved to another month changes both. Fingerprints also cover what changes records without a trace in them: migrations, promotions and the
// erasure of a person. Tables that are no records (the ledger, the marts) are written every time, and a file that came out byte for
// byte as it was is left alone.
//
// # One set
//
// New files are written to DIR/.staging, with fsync, while the old set stays as it is. Then the manifest says that a set is being
// published, the new files are renamed into place, files of months that are gone are removed, and the manifest is written anew and says
// complete. A reader that finds the same complete manifest before and after reading has read one set; it can also compare sizes
// and SHA-256. An export that was killed leaves DIR/.staging, which the next one empties, or a manifest that says publishing, after which the
// next one writes every file again. Nothing but files that a manifest lists is ever removed.
//
// # Types
//
// TEXT is a UTF-8 string, REAL a DOUBLE, BIGINT and INTEGER an INT64, BOOLEAN a BOOLEAN, DATE a DATE, TIMESTAMP a TIMESTAMP in microseconds (adjusted to UTC,
// but for columns of local time), BLOB a BYTE_ARRAY; every column that may be NULL is optional. Microseconds are what Spark, Trino and DuckDB
// compute in; the mirror holds milliseconds. CSV comes in two styles, see [CSV] and [ExcelBR].
//
// # Workbooks
//
// A workbook has a sheet for each mart, or each table named, behind one that says what the sheets and
// columns mean. The library excelize makes it with empty sheets: styles, widths, headers, filters.
// While it is zipped, rows go from the snapshot into the sheets one by one, so that memory does not
// grow with them, and nothing is written but the file itself (package atomicfile). What must stand
// before the rows is asked for before: how many there are, and a sample for the widths. A value is a
// cell of its column's type; one that Excel cannot hold as that (an infinite number, an integer of
// more than 15 digits, a date before March 1900) is text. Characters that XML cannot hold are kept.
package export

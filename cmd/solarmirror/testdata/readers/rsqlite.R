# Reads every table of a mirror into R. Arguments: the file, a day. Prints what readers_test.go compares, as JSON.
library(DBI)
args <- commandArgs(TRUE)
db <- dbConnect(RSQLite::SQLite(), args[1], flags = RSQLite::SQLITE_RO, extended_types = TRUE)

# Times are doubles in R: without the half millisecond, format would cut 0.790 to 0.789.
moment <- function(values, pick) {
  values <- values[!is.na(values)]
  if (length(values) == 0) return("")
  if (inherits(values, "POSIXct")) format(pick(values) + 0.0005, "%Y-%m-%d %H:%M:%OS3") else format(pick(values))
}

columns <- c()
for (table in dbListTables(db)) {
  frame <- dbReadTable(db, table, check.names = FALSE)
  for (name in names(frame)) {
    values <- frame[[name]]
    isTime <- inherits(values, "Date") || inherits(values, "POSIXct")
    columns <- c(columns, sprintf('{"Table": "%s", "Column": "%s", "Type": "%s", "Values": %d, "Total": %.17g, "First": "%s", "Last": "%s"}',
      table, name, class(values)[1], sum(!is.na(values)),
      if (is.numeric(values) || bit64::is.integer64(values)) sum(as.numeric(values), na.rm = TRUE) else 0,
      if (isTime) moment(values, min) else "", if (isTime) moment(values, max) else ""))
  }
}
since <- dbGetQuery(db, "SELECT count(*) FROM bi_requests WHERE order_date >= ?", params = list(format(as.Date(args[2]))))[[1]]
cat('{"Since": [', since, '], "Columns": [', paste(columns, collapse = ",\n"), "]}\n")

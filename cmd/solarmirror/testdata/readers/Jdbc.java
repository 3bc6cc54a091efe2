import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads every table of a mirror over JDBC. Arguments: the file, a day. Prints what readers_test.go compares, as JSON. */
class Jdbc {
    public static void main(String[] args) throws Exception {
        String url = "jdbc:sqlite:" + args[0] + "?open_mode=1";
        List<String> columns = new ArrayList<>();
        List<String> since = new ArrayList<>();
        try (Connection text = DriverManager.getConnection(url);
                Connection dates = DriverManager.getConnection(url + "&date_class=TEXT&date_string_format=yyyy-MM-dd")) {
            List<String> tables = new ArrayList<>();
            try (ResultSet t = text.getMetaData().getTables(null, null, null, new String[] {"TABLE"})) {
                while (t.next()) {
                    tables.add(t.getString("TABLE_NAME"));
                }
            }
            for (String table : tables) { // for all at once, the driver's own statement has too many terms
                try (ResultSet c = text.getMetaData().getColumns(null, null, table, null)) {
                    while (c.next()) {
                        columns.add(read(text, dates, table, c.getString("COLUMN_NAME"), c.getString("TYPE_NAME")));
                    }
                }
            }
            String orders = "SELECT count(*) FROM bi_requests WHERE order_date >= ?";
            try (PreparedStatement s = text.prepareStatement(orders)) {
                s.setString(1, args[1]);
                since.add(s.executeQuery().getString(1));
                s.setObject(1, LocalDate.parse(args[1]));
                since.add(s.executeQuery().getString(1));
            }
            try (PreparedStatement s = dates.prepareStatement(orders)) {
                s.setDate(1, java.sql.Date.valueOf(args[1]));
                since.add(s.executeQuery().getString(1));
            }
        }
        System.out.println("{\"Since\": " + since + ", \"Columns\": [" + String.join(",\n", columns) + "]}");
    }

    /** Texts are taken as such, and days a second time as dates, which the second connection can read. */
    static String read(Connection text, Connection dates, String table, String column, String type) throws Exception {
        String query = "SELECT " + column + " FROM " + table;
        long values = 0;
        double total = 0;
        String first = null, last = null;
        try (ResultSet r = text.createStatement().executeQuery(query); ResultSet d = dates.createStatement().executeQuery(query)) {
            while (r.next() & d.next()) {
                String value = r.getString(1);
                if (value == null) {
                    continue;
                }
                values++;
                switch (type) {
                    case "BIGINT", "INTEGER" -> total += r.getLong(1);
                    case "REAL" -> total += r.getDouble(1);
                    case "BOOLEAN" -> total += r.getBoolean(1) ? 1 : 0;
                    case "DATE", "TIMESTAMP" -> {
                        if (type.equals("DATE")) {
                            value = d.getDate(1).toString();
                        }
                        first = first == null || value.compareTo(first) < 0 ? value : first;
                        last = last == null || value.compareTo(last) > 0 ? value : last;
                    }
                    default -> { }
                }
            }
        }
        return String.format(Locale.ROOT, "{\"Table\": \"%s\", \"Column\": \"%s\", \"Type\": \"%s\", \"Values\": %d, \"Total\": %s, \"First\": \"%s\", \"Last\": \"%s\"}",
                table, column, type, values, total, first == null ? "" : first, last == null ? "" : last);
    }
}

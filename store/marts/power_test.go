package marts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store"
)

// powerDeals returns statements that replace all requests by deals with 10 modules of 500 W each.
func powerDeals(deals int, totalPower float64) []string {
	return []string{
		"DELETE FROM requests", "DELETE FROM request_products",
		`INSERT OR REPLACE INTO equipments (equipment_key, type, product_code, nominal_max_power) VALUES
			(1, 'module', 'M', 500), (2, 'module', 'small', 49.9), (3, 'module', 'large', 1500.1), (4, 'module', 'none', NULL), (5, 'inverter', 'I', 5)`,
		fmt.Sprintf(`INSERT INTO requests (request_key, request_type, id, total_power)
			WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i, 'order', i, %g FROM n LIMIT %d`, totalPower, deals),
		`INSERT INTO request_products (request_key, position, type, product_code, quantity)
			SELECT request_key, column1, column2, column3, column4 FROM requests, (VALUES (1, 'module', 'M', 10), (2, 'inverter', 'I', 1), (3, 'extraItem', NULL, 9))`,
	}
}

// TestPowerEvidence: a deal is evidence if it is live, has a totalPower, and the rated power of all
// its modules is known and credible. 20 of them decide, fewer do not.
func TestPowerEvidence(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		deals      int
		totalPower float64
		change     string
		want       string
	}{
		{"kWp", 20, 5, "", "read as kWp, as the deals say; the median of 20 deals says 1 W of modules is 0.001 of totalPower"},
		{"Wp", 20, 5000, "", "read as Wp, as the deals say; the median of 20 deals says 1 W of modules is 1 of totalPower"},
		{"nearer to kWp", 20, 5000 * 0.03, "", "read as kWp, as the deals say; the median of 20 deals says 1 W of modules is 0.03 of totalPower"},
		{"nearer to Wp", 20, 5000 * 0.033, "", "read as Wp, as the deals say; the median of 20 deals says 1 W of modules is 0.033 of totalPower"},
		{"too few", 19, 5000, "", "no evidence yet: read as kWp; 19 of 20 deals"},
		{"no deals", 0, 5000, "", "no evidence yet: read as kWp; 0 of 20 deals"},
		{"a few wrong ones", 21, 5000, "UPDATE requests SET total_power = 5 WHERE request_key <= 10",
			"read as Wp, as the deals say; the median of 21 deals says 1 W of modules is 1 of totalPower"},
		{"rated power of the specifications", 20, 5000, "INSERT INTO module_specifications (equipment_key, rated_maximum_power) VALUES (1, 625)",
			"read as Wp, as the deals say; the median of 20 deals says 1 W of modules is 0.8 of totalPower"},
		{"least and most rated power", 20, 5000, `UPDATE equipments SET nominal_max_power = 50 WHERE equipment_key = 2; UPDATE equipments SET nominal_max_power = 1500 WHERE equipment_key = 3;
			INSERT INTO request_products (request_key, position, type, product_code, quantity) SELECT request_key, 4, 'module', iif(request_key % 2, 'small', 'large'), 0.1 FROM requests`,
			"read as Wp, as the deals say; the median of 20 deals says 1 W of modules is 0.9709 of totalPower"},
		{"too small a module", 20, 5000, "INSERT INTO request_products (request_key, position, type, product_code, quantity) VALUES (1, 4, 'module', 'small', 1)", "19 of 20"},
		{"too large a module", 20, 5000, "INSERT INTO request_products (request_key, position, type, product_code, quantity) VALUES (1, 4, 'module', 'large', 1)", "19 of 20"},
		{"a module without rated power", 20, 5000, "INSERT INTO request_products (request_key, position, type, product_code, quantity) VALUES (1, 4, 'module', 'none', 1)", "19 of 20"},
		{"a module that the catalogue lacks", 20, 5000, "INSERT INTO request_products (request_key, position, type, product_code, quantity) VALUES (1, 4, 'module', 'new', 1)", "19 of 20"},
		{"no quantity", 20, 5000, "UPDATE request_products SET quantity = NULL WHERE request_key = 1", "19 of 20"},
		{"no modules", 20, 5000, "DELETE FROM request_products WHERE request_key = 1 AND type = 'module'", "19 of 20"},
		{"no totalPower", 20, 5000, "UPDATE requests SET total_power = NULL WHERE request_key = 1", "19 of 20"},
		{"totalPower is zero", 20, 5000, "UPDATE requests SET total_power = 0 WHERE request_key = 1", "19 of 20"},
		{"removed", 20, 5000, "UPDATE requests SET removed = 1 WHERE request_key = 1", "19 of 20"},
		{"deleted", 20, 5000, "UPDATE requests SET _deleted_at = '2026-01-01 00:00:00.000' WHERE request_key = 1", "19 of 20"},
		{"budget and order of one deal", 20, 5000, "UPDATE requests SET request_type = 'budget', id = '2' WHERE request_key = 1", "19 of 20"},
		{"budget of a removed order", 21, 5000, "UPDATE requests SET request_type = 'budget', id = '2' WHERE request_key = 1; UPDATE requests SET removed = 1 WHERE request_key = 2", "median of 20"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := openMirror(t, mirrorPath(t))
			execute(t, m, powerDeals(tc.deals, tc.totalPower)...)
			for statement := range strings.SplitSeq(tc.change, ";") {
				if statement != "" {
					execute(t, m, statement)
				}
			}
			p, err := ReadPower(t.Context(), m, store.Auto)
			must(t, err)
			if !strings.Contains(p.String(), tc.want) {
				t.Errorf("%q does not say %q", p, tc.want)
			}
		})
	}
}

// TestPowerUnitOfTheMarts: the first refresh with enough evidence decides the unit. It is remembered
// whatever deals say later, and the configured unit overrules it.
func TestPowerUnitOfTheMarts(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newOffice(t, store.Options{Log: zerolog.New(&log)})
	decided := f.Mirror
	refresh := func(m *store.Mirror, remembered, kwp string, says ...string) {
		t.Helper()
		log.Reset()
		f.Mirror = m
		must(t, Refresh(t.Context(), m))
		f.says(remembered, "power_unit", "FROM _meta")
		f.says(kwp, "power_kwp", "FROM bi_requests GROUP BY power_kwp")
		if warns := strings.Count(log.String(), `"warn"`); warns != min(1, strings.Count(strings.Join(says, ""), "seems wrong")) {
			t.Errorf("%d warnings in %s", warns, &log)
		}
		for _, part := range says {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log does not say %q:\n%s", part, &log)
			}
		}
	}
	all := func(deals int, totalPower float64) {
		t.Helper()
		execute(t, f.Mirror, append(powerDeals(deals, totalPower), "INSERT OR IGNORE INTO _stale (table_name, key, name) SELECT 'requests', request_key, id FROM requests")...)
	}
	configured := func(unit store.PowerUnit) *store.Mirror {
		t.Helper()
		m, err := store.Open(t.Context(), f.Path(), store.Options{PowerUnit: unit, Now: f.Now, Log: zerolog.New(&log)})
		must(t, err)
		t.Cleanup(func() { must(t, m.Close()) })
		return m
	}

	all(19, 5000)
	refresh(decided, "-", "5000.0", "no evidence yet: read as kWp; 19 of 20 deals")
	refresh(decided, "-", "5000.0")
	if log.Len() > 0 {
		t.Errorf("a refresh of nothing says %s", &log)
	}
	all(20, 5000)
	refresh(decided, "Wp", "5.0", "read as Wp, as the deals say", `"anew":true`)

	all(20, 5)
	const wrong = "seems wrong: read as Wp, as decided before, but the median of 20 deals says 1 W of modules is 0.001 of totalPower; set [marts] power_unit = \\\"kWp\\\""
	refresh(decided, "Wp", "0.005", wrong, `"anew":false`)
	before := f.version()
	refresh(decided, "Wp", "0.005", wrong)
	if f.version() != before {
		t.Error("a refresh of nothing wrote to the file")
	}
	must(t, Rebuild(t.Context(), decided))
	refresh(decided, "Wp", "0.005", wrong)

	refresh(configured(store.KWp), "Wp", "5.0", `"anew":true`)
	refresh(configured(store.Wp), "Wp", "0.005", "seems wrong: read as Wp, as configured")
	refresh(decided, "Wp", "0.005", wrong)
	all(19, 5)
	refresh(decided, "Wp", "0.005", `"anew":false`) // too few to contradict
}

// TestPowerUnitIsContradicted from a factor of 100, either way.
func TestPowerUnitIsContradicted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		unit   store.PowerUnit
		ratio  float64
		remedy string // "" when not contradicted
	}{
		{store.KWp, 0.099, ""}, {store.KWp, 0.101, `"Wp"`}, {store.KWp, 0.0000101, ""}, {store.KWp, 0.0000099, "neither"},
		{store.Wp, 0.0101, ""}, {store.Wp, 0.0099, `"kWp"`}, {store.Wp, 99, ""}, {store.Wp, 101, "neither"},
	} {
		p := Power{tc.unit, Configured, Evidence{Deals: 20, Ratio: tc.ratio}}
		if p.Contradicted() != (tc.remedy != "") || !strings.Contains(p.Remedy(), tc.remedy) {
			t.Errorf("%s is contradicted: %v; %s", p, p.Contradicted(), p.Remedy())
		}
		if p.Deals = 19; p.Contradicted() {
			t.Errorf("%s is contradicted", p)
		}
	}
}

// TestPowerUnitIsDecidedRightly: the decision is right whatever the deals are, if their totalPower is
// within 30 % of their modules', and does not depend on their order.
func TestPowerUnitIsDecidedRightly(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	for seed := range uint64(40) {
		d := rand.New(rand.NewPCG(seed, 3))
		unit := []store.PowerUnit{store.KWp, store.Wp}[d.IntN(2)]
		type deal struct {
			lines string // VALUES of request_products after the key
			total float64
		}
		var catalogue []string
		rated := make([]float64, 1+d.IntN(9))
		for i := range rated {
			rated[i] = 50 + 1450*d.Float64()
			catalogue = append(catalogue, fmt.Sprintf("('module', 'M%d', %g)", i, rated[i]))
		}
		deals := make([]deal, enoughDeals+d.IntN(60))
		for i := range deals {
			watts := 0.0
			var lines []string
			for position := range 1 + d.IntN(4) {
				module, quantity := d.IntN(len(rated)), 1+d.IntN(500)
				watts += rated[module] * float64(quantity)
				lines = append(lines, fmt.Sprintf("%d, 'module', 'M%d', %d)", position, module, quantity))
			}
			deals[i] = deal{"(%[1]d, " + strings.Join(lines, ", (%[1]d, "), watts * perWatt[unit] * (0.7 + 0.6*d.Float64())}
		}
		var first Power
		for round := range 3 {
			execute(t, m, "DELETE FROM requests", "DELETE FROM request_products", "DELETE FROM equipments",
				"INSERT INTO equipments (type, product_code, nominal_max_power) VALUES "+strings.Join(catalogue, ", "))
			var requests, lines []string
			for key, i := range d.Perm(len(deals)) {
				requests = append(requests, fmt.Sprintf("(%d, '%s', '%d', %g)", key, []string{"budget", "order"}[d.IntN(2)], i, deals[i].total))
				lines = append(lines, fmt.Sprintf(deals[i].lines, key))
			}
			execute(t, m, "INSERT INTO requests (request_key, request_type, id, total_power) VALUES "+strings.Join(requests, ", "),
				"INSERT INTO request_products (request_key, position, type, product_code, quantity) VALUES "+strings.Join(lines, ", "))
			p, err := ReadPower(t.Context(), m, store.Auto)
			must(t, err)
			if round == 0 {
				first = p
			}
			if p.Unit != unit || p.Basis != Decided || p.Deals != len(deals) || p.Contradicted() || p != first {
				t.Fatalf("seed %d, %d deals in %s: %s, before: %s", seed, len(deals), unit, p, first)
			}
		}
	}
}

// TestPowerUnitAfterAnUpgrade: a mirror of version 4 knows no unit. Its first refresh decides it and
// builds the marts anew.
func TestPowerUnitAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := store.Open(t.Context(), path, store.Options{PowerUnit: store.KWp})
	must(t, err)
	execute(t, m, powerDeals(20, 5000)...)
	must(t, Refresh(t.Context(), m))
	execute(t, m, "ALTER TABLE _meta DROP COLUMN power_unit", "DELETE FROM _columns WHERE table_name = '_meta' AND column_name = 'power_unit'",
		"UPDATE _meta SET schema_version = 4", "UPDATE _marts SET recipe = 'schema 4, edition 4, UTC, kWp'")
	must(t, m.Close())

	var log bytes.Buffer
	f := &office{T: t}
	f.Mirror, err = store.Open(t.Context(), path, store.Options{Log: zerolog.New(&log)})
	must(t, err)
	defer func() { must(t, f.Close()) }()
	f.says(fmt.Sprintf("%d -", schema.Version), "schema_version, power_unit", "FROM _meta")
	must(t, Refresh(t.Context(), f.Mirror))
	must(t, Refresh(t.Context(), f.Mirror))
	f.says("Wp", "power_unit", "FROM _meta")
	f.says("5.0", "power_kwp", "FROM bi_requests GROUP BY power_kwp")
	if n := strings.Count(log.String(), `"anew":true`); n != 1 {
		t.Errorf("built %d times: %s", n, &log)
	}
}

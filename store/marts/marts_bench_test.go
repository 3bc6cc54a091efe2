//go:build unix

package marts

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"solarmirror/schema"
	"solarmirror/store"
)

var benchRequests = flag.Int("requests", 10_000, "requests of the mirror that BenchmarkMarts builds marts in, with 8 lines each")

// benchMirror holds, per 100 requests, 50 orders of which 4 are cancelled, 40 budgets and 10 lost
// ones, of some hundred sellers and customers, over three years.
var benchMirror = []string{
	`INSERT INTO equipments (equipment_key, type, product_code, manufacturer, model, cost_price, base_price, nominal_max_power, inventory_current, _first_seen_at, _changed_at)
	WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3264)
	SELECT i, CASE i % 4 WHEN 0 THEN 'module' WHEN 1 THEN 'inverter' WHEN 2 THEN 'stringBox' ELSE 'complementaryEquipment' END, printf('P%06d', i), printf('Maker %d', i % 40), printf('Model %d', i),
		100 + i, 150 + i, CASE WHEN i % 4 = 0 THEN 550.0 END, i % 90, '2025-06-01 00:00:00.000', '2025-06-01 00:00:00.000' FROM n`,
	`INSERT INTO equipment_price_history (equipment_key, valid_from, valid_to, base_price, cost_price, is_to_sell, is_inferred)
	SELECT equipment_key, '2025-06-01 00:00:00.000', '2025-09-01 00:00:00.000', base_price - 1, cost_price - 1, 1, 1 FROM equipments
	UNION ALL SELECT equipment_key, '2025-09-01 00:00:00.000', NULL, base_price, cost_price, 1, 0 FROM equipments`,
	`INSERT INTO requests (request_key, request_type, id, code, name, kind, total_power, budget_created, order_created, deal_status, original_value, discount, final_value,
		responsible_email, responsible_name, removed, _first_seen_at, _changed_at)
	WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {n})
	SELECT i, CASE WHEN i % 2 = 0 THEN 'order' ELSE 'budget' END, printf('%024x', i * 7919), printf('PED-%d', i), printf('Usina %d', i), 'generator', i % 40 + 0.55,
		strftime('%Y-%m-%d %H:%M:%f', '2023-01-01', printf('+%d minutes', (i * 7919) % 1500000)),
		CASE WHEN i % 2 = 0 THEN strftime('%Y-%m-%d %H:%M:%f', '2023-01-09', printf('+%d minutes', (i * 7919) % 1500000)) END,
		CASE WHEN i % 25 = 0 THEN 'Cancelado' WHEN i % 10 = 3 THEN 'Perdido' WHEN i % 6 = 0 THEN 'Entregue' ELSE printf('Etapa %d', i % 7) END,
		10000 + i % 977, i % 97, 10000 + i % 977 - i % 97, printf('vendedor%d@example.com', i % ({n} / 3 + 1) % 211), printf('Vendedor %d', i % ({n} / 3 + 1) % 211), 0, '2025-06-01 00:00:00.000', '2025-06-01 00:00:00.000' FROM n`,
	`INSERT INTO request_payments (request_key, type, condition_name, status, transaction_status)
	SELECT request_key, printf('tipo %d', request_key % 5), printf('%d vezes', request_key % 12), CASE request_key % 3 WHEN 0 THEN 'received' ELSE 'requested' END, printf('t%d', request_key % 4) FROM requests`,
	`INSERT INTO request_companies (request_key, cnpj, company_name, address_state, address_city)
	SELECT request_key, printf('%014d', request_key % ({n} / 3 + 1)), printf('Empresa %d', request_key % ({n} / 3 + 1)), substr('SPRJMGBASCPRRSGO', request_key % ({n} / 3 + 1) % 211 % 8 * 2 + 1, 2), 'Cidade' FROM requests`,
	`INSERT INTO request_freights (request_key, type, price, address_state, address_city)
	SELECT request_key, 'CIF', 120.5, substr('SPRJMGBASCPRRSGO', request_key % ({n} / 3 + 1) % 211 % 8 * 2 + 1, 2), 'Cidade' FROM requests`,
	`INSERT INTO request_products (request_key, position, type, product_code, name, quantity, single_price, total_price, center_code)
	SELECT r.request_key, l.value, e.type, e.product_code, e.model, 2 + l.value, 300.25, 300.25 * (2 + l.value), printf('CD-%d', l.value % 3)
	FROM requests AS r CROSS JOIN json_each('[1,2,3,4,5,6,7,8]') AS l CROSS JOIN equipments AS e ON e.equipment_key = (r.request_key * 31 + l.value * 409) % 3264 + 1`,
	`INSERT INTO request_status_history (request_key, valid_from, deal_status, final_value, removed, is_inferred)
	SELECT request_key, _first_seen_at, deal_status, final_value, 0, 1 FROM requests`,
}

// BenchmarkMarts refreshes the marts of a mirror: from nothing, and after some of its requests have
// changed.
func BenchmarkMarts(b *testing.B) {
	path := filepath.Join(b.TempDir(), "mirror.db")
	m, err := store.Open(b.Context(), path, store.Options{Zone: mustZone(b, "America/Sao_Paulo"), PowerUnit: store.KWp})
	must(b, err)
	defer m.Close()
	fillBench(b, m, *benchRequests)
	must(b, Refresh(b.Context(), m))
	requests := int64(*benchRequests)
	for _, share := range []struct {
		name   string
		change string
	}{
		{"from nothing", "DELETE FROM _marts"},
		{"summaries", "INSERT INTO _stale (table_name, key, name) VALUES ('bi_requests', 0, ''), ('bi_items', 0, ''), ('_deals', 0, ''), ('bi_status_duration', 0, '')"},
		{"1% changed", "UPDATE requests SET final_value = -final_value, deal_status = deal_status || '.' WHERE request_key IN (SELECT key FROM _stale)"},
		{"1 request changed", "UPDATE requests SET final_value = -final_value WHERE request_key IN (SELECT key FROM _stale)"},
	} {
		b.Run(share.name, func(b *testing.B) {
			each := map[string]int64{"1% changed": 100, "1 request changed": requests}[share.name]
			cpu, round := int64(0), int64(0)
			for b.Loop() {
				b.StopTimer()
				round++
				must(b, m.Update(b.Context(), func(tx *store.Tx) error {
					if each > 0 {
						if err := tx.NoteStale(schema.Requests, fmt.Sprintf("SELECT request_key FROM requests WHERE (request_key * 7919 + %d) %% %d = 0", round, each)); err != nil {
							return err
						}
					}
					_, err := tx.Exec("change", share.change)
					return err
				}))
				b.StartTimer()
				before := cpuTime(b)
				must(b, Refresh(b.Context(), m))
				cpu += cpuTime(b) - before
			}
			b.ReportMetric(float64(cpu)/1e6/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(cpu)/1e3/float64(b.N)/float64(requests), "cpu-µs/request")
		})
	}
}

// cpuTime returns the CPU time of the process in nanoseconds.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func fillBench(b *testing.B, m *store.Mirror, requests int) {
	b.Helper()
	must(b, m.Update(b.Context(), func(tx *store.Tx) error {
		for _, query := range benchMirror {
			if _, err := tx.Exec("fill", strings.ReplaceAll(query, "{n}", fmt.Sprint(requests))); err != nil {
				return err
			}
		}
		return nil
	}))
}

package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store/dealclass"
)

// TestDealLists: the lists of the Options, or else the default ones, also on a side connection.
func TestDealLists(t *testing.T) {
	t.Parallel()
	own := dealclass.Lists{Cancelled: []string{}, Lost: []string{"sem retorno"}}
	for _, tc := range []struct{ given, want dealclass.Lists }{{dealclass.Lists{}, dealclass.Default()}, {own, own}} {
		m, err := Open(t.Context(), mirrorPath(t), Options{Deals: tc.given})
		must(t, err)
		t.Cleanup(func() { m.Close() })
		if d := cmp.Diff(tc.want, m.Deals()); d != "" {
			t.Error(d)
		}
		must(t, m.WithSideConnection(t.Context(), func(side *Side) error {
			if d := cmp.Diff(tc.want, side.Deals()); d != "" {
				t.Error("side connection: ", d)
			}
			return nil
		}))
	}
}

func TestUndecidedStatuses(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	for _, status := range []any{"Novo", "Faturado", "Faturado", "FATURADO", "Aprovado", " ENTREGUE", "cancelada", "Perdido", "Sem retorno", nil, "", " \t"} {
		_, err := m.conn.ExecContext(t.Context(), "INSERT INTO bi_statuses (deal_status, deal_class, deals) VALUES (?, 'open', 1)", status)
		must(t, err)
	}
	lists := dealclass.Default()
	lists.Lost = append(lists.Lost, "sem retorno")
	got, err := m.UndecidedStatuses(t.Context(), lists)
	must(t, err)
	if d := cmp.Diff([]StatusCount{{"Faturado", 3}, {"Aprovado", 1}, {"Novo", 1}}, got); d != "" {
		t.Error(d)
	}
}

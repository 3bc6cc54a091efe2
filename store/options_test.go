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

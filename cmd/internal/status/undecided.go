package status

import (
	"context"
	"fmt"
	"strings"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/store/dealclass"
)

// Undecided are the deal statuses that no list of [marts] holds, the most frequent first. They are no
// fault: most are of deals under way.
type Undecided []undecidedStatus

type undecidedStatus struct {
	Status string `json:"status"`
	Deals  int64  `json:"deals"`
}

// ReadUndecided reads the deal statuses that are not in lists.
func ReadUndecided(ctx context.Context, mirror *store.Mirror, lists dealclass.Lists) (Undecided, error) {
	counts, err := mirror.UndecidedStatuses(ctx, lists)
	list := make(Undecided, len(counts))
	for i, c := range counts {
		list[i] = undecidedStatus{Status: c.Status, Deals: c.Deals}
	}
	return list, err
}

// First formats the first n statuses with their deals as one line, and how many more there are.
func (list Undecided) First(n int) string {
	n = min(n, len(list))
	shown := make([]string, n)
	for i, u := range list[:n] {
		shown[i] = fmt.Sprintf("%q %d", terminal.Cell(u.Status), u.Deals)
	}
	text := strings.Join(shown, ", ")
	if more := len(list) - n; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

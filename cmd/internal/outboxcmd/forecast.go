package outboxcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store/identity"
	"solarmirror/store/outbox"
)

// wouldBe is what a push counts a row as, by the row's next state.
var wouldBe = map[outbox.State]string{
	outbox.StateSending: "sent", outbox.StateRejected: "rejected", outbox.StateAmbiguous: "ambiguous", outbox.StatePending: "postponed",
}

type forecastJSON struct {
	ID          int64  `json:"id"`
	TaxIDMasked string `json:"tax_id_masked"`
	Name        string `json:"name"`
	State       string `json:"state"`
	WouldBe     string `json:"would_be"`
	Reason      string `json:"reason,omitempty"`
}

// PrintForecast prints what a push would do. It fails when a row would be rejected or put in doubt.
func PrintForecast(w io.Writer, forecast []outbox.Forecast, asJSON bool) error {
	refused := 0
	rows := []forecastJSON{}
	for _, f := range forecast {
		if f.Next == outbox.StateRejected || f.Next == outbox.StateAmbiguous {
			refused++
		}
		name := strings.TrimSpace(f.Name + " " + f.Surname)
		rows = append(rows, forecastJSON{f.ID, identity.MaskTaxID(f.TaxID()), name, string(f.State), wouldBe[f.Next], f.Reason})
	}
	if err := printForecast(w, rows, asJSON); err != nil {
		return err
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d rows would be rejected or put in doubt", refused, len(rows))
	}
	return nil
}

func printForecast(w io.Writer, rows []forecastJSON, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]any{"rows": rows})
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is pending.")
		return err
	}
	t := terminal.NewTable("id", "tax number", "name", "state", "would be")
	var reasons strings.Builder
	for _, r := range rows {
		t.Add(r.ID, r.TaxIDMasked, r.Name, r.State, r.WouldBe)
		if r.Reason != "" {
			fmt.Fprintf(&reasons, "row %d: %s\n", r.ID, terminal.Harmless(r.Reason))
		}
	}
	if err := t.Section(w, ""); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%sNothing was sent or written.\n", reasons.String())
	return err
}

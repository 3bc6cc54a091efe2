package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/dealclass"
)

// TestMirrorOptions: what the marts depend on reaches the mirror.
func TestMirrorOptions(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Source{Environ: []string{
		"SOLARMIRROR_PLATFORM_TIME_ZONE=America/Manaus", "SOLARMIRROR_MARTS_POWER_UNIT=Wp", "SOLARMIRROR_MARTS_CANCELLED_PAYMENT_STATUSES=!cancelled,void",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := dealclass.Default()
	want.CancelledPayment = []string{"void"}
	o := MirrorOptions(c, nil, zerolog.Nop())
	if d := cmp.Diff(want, o.Deals); d != "" || o.Zone.String() != "America/Manaus" || o.PowerUnit != "Wp" {
		t.Errorf("zone %s, power unit %s, lists %s", o.Zone, o.PowerUnit, d)
	}
}

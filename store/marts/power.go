package marts

import (
	"context"
	"fmt"
	"slices"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// The platform does not state the unit of totalPower. A deal is evidence of it when the catalogue
// knows the rated power of all its modules: totalPower / (rated power × quantity) is about 0.001 if
// totalPower is in kWp, and about 1 if it is in Wp.

// Limits of the evidence.
const (
	enoughDeals  = 20    // fewer decide nothing and contradict nothing
	wantedDeals  = 1_000 // no more deals are used
	lookedAt     = 5_000 // live deals with a totalPower, the newest, whose lines are read
	walkedOver   = 50_000
	leastRated   = 50 // W; a rated power outside is a mistake in the catalogue
	mostRated    = 1_500
	contradicted = 100 // the factor from which the evidence contradicts a unit
)

// perWatt is the totalPower of 1 W of modules, by its unit.
var perWatt = map[store.PowerUnit]float64{store.KWp: 0.001, store.Wp: 1}

// evidenceSQL returns the evidence of each deal. The limits of the subqueries bound its cost, also
// where the newest requests are removed or have no modules.
var evidenceSQL = fmt.Sprintf(`SELECT ratio FROM (
  SELECT r.total_power / (
    SELECT CASE WHEN count(*) = sum(p.quantity > 0 AND coalesce(m.rated_maximum_power, e.nominal_max_power) BETWEEN %d AND %d)
      THEN sum(p.quantity * coalesce(m.rated_maximum_power, e.nominal_max_power)) END
    FROM request_products AS p
    LEFT JOIN equipments AS e ON e.type = p.type AND e.product_code = p.product_code
    LEFT JOIN module_specifications AS m ON m.equipment_key = e.equipment_key
    WHERE p.request_key = r.request_key AND p.type = 'module') AS ratio
  FROM (SELECT request_key, request_type, id, total_power, removed, _deleted_at FROM requests ORDER BY request_key DESC LIMIT %d) AS r
  WHERE r.total_power > 0 AND r.removed IS NOT 1 AND r._deleted_at IS NULL AND (r.request_type = 'order' OR NOT EXISTS (
    SELECT 1 FROM requests AS o WHERE o.request_type = 'order' AND o.id = r.id AND o.removed IS NOT 1 AND o._deleted_at IS NULL))
  LIMIT %d
) WHERE ratio IS NOT NULL LIMIT %d`, leastRated, mostRated, walkedOver, lookedAt, wantedDeals)

// Evidence is what deals say about the unit of totalPower.
type Evidence struct {
	Deals int     // the deals that are evidence
	Ratio float64 // the median of their totalPower for 1 W of modules
}

func readEvidence(ctx context.Context, m *store.Mirror) (Evidence, error) {
	var ratios []float64
	if err := m.Reader().SelectContext(ctx, &ratios, evidenceSQL); err != nil {
		return Evidence{}, fmt.Errorf("compare totalPower with the modules: %w", sqlitefile.Explain(m.Path(), err))
	}
	if len(ratios) == 0 {
		return Evidence{}, nil
	}
	slices.Sort(ratios)
	return Evidence{Deals: len(ratios), Ratio: ratios[(len(ratios)-1)/2]}, nil
}

func (e Evidence) enough() bool { return e.Deals >= enoughDeals }

// nearest returns the unit whose ratio is nearer on a log scale.
func (e Evidence) nearest() store.PowerUnit {
	if e.Ratio*e.Ratio < perWatt[store.KWp]*perWatt[store.Wp] {
		return store.KWp
	}
	return store.Wp
}

// String says what the evidence is.
func (e Evidence) String() string {
	if !e.enough() {
		return fmt.Sprintf("too few deals to check it: %d of %d", e.Deals, enoughDeals)
	}
	return fmt.Sprintf("the median of %d deals says 1 W of modules is %.4g of totalPower", e.Deals, e.Ratio)
}

// Basis is the reason why the marts read totalPower in a unit.
type Basis string

// The bases, by precedence.
const (
	Configured Basis = "as configured"
	Remembered Basis = "as decided before"
	Decided    Basis = "as the deals say"
	Assumed    Basis = "no evidence yet"
)

// Power is the unit in which the marts read totalPower, and the evidence for or against it.
type Power struct {
	Unit  store.PowerUnit // KWp or Wp
	Basis Basis
	Evidence
}

// ReadPower returns the unit for a mirror. Unless one is configured, it is the remembered one, else
// the one that the evidence decides, else kWp.
func ReadPower(ctx context.Context, m *store.Mirror, configured store.PowerUnit) (Power, error) {
	meta, err := m.Meta(ctx)
	if err != nil {
		return Power{}, err
	}
	e, err := readEvidence(ctx, m)
	switch {
	case err != nil:
		return Power{}, err
	case configured != store.Auto:
		return Power{configured, Configured, e}, nil
	case meta.PowerUnit != "":
		return Power{meta.PowerUnit, Remembered, e}, nil
	case e.enough():
		return Power{e.nearest(), Decided, e}, nil
	}
	return Power{store.KWp, Assumed, e}, nil
}

// Contradicted reports whether the evidence differs from the unit by a factor of 100 or more.
func (p Power) Contradicted() bool {
	factor := p.Ratio / perWatt[p.Unit]
	return p.enough() && (factor >= contradicted || factor <= 1.0/contradicted)
}

// Remedy says what to do about a contradicted unit.
func (p Power) Remedy() string {
	if unit := p.nearest(); unit != p.Unit {
		return fmt.Sprintf(`set [marts] power_unit = "%s" in config.toml, then run "solarmirror sync"`, unit)
	}
	return "ask the platform's operators for the unit of totalPower: neither kWp nor Wp fits"
}

// String says what the unit is, why, and what the evidence is.
func (p Power) String() string {
	switch {
	case p.Basis == Assumed:
		return fmt.Sprintf("%s: read as %s; %d of %d deals", p.Basis, p.Unit, p.Deals, enoughDeals)
	case p.Contradicted():
		return fmt.Sprintf("read as %s, %s, but %s", p.Unit, p.Basis, p.Evidence)
	}
	return fmt.Sprintf("read as %s, %s; %s", p.Unit, p.Basis, p.Evidence)
}

// decidePower returns the unit for the marts, remembers a decision and warns of a contradicted unit.
func decidePower(ctx context.Context, m *store.Mirror) (Power, error) {
	p, err := ReadPower(ctx, m, m.PowerUnit())
	if err != nil {
		return p, err
	}
	if p.Basis == Decided {
		if err := m.SetPowerUnit(ctx, p.Unit); err != nil {
			return p, err
		}
		m.Log().Info().Msg("unit of totalPower: " + p.String())
	}
	if p.Contradicted() {
		m.Log().Warn().Msg("the unit of totalPower seems wrong: " + p.String() + "; " + p.Remedy())
	}
	return p, nil
}

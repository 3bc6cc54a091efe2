package report

import (
	"context"
	"fmt"
)

// priceChanges are those of the recent days, of all sellers and states.
type priceChanges struct {
	Up, Down int64 // also those beyond the list
	All      int64
	List     []priceChange // the largest first, in percent
}

type priceChange struct {
	Name, Code       string
	Cost             bool // the cost, else the sales price
	Old, New, Change float64
	At               string // UTC
}

func (s *source) readPriceChanges(ctx context.Context, f *figures) {
	at := f.instants(f.recent())
	where := "WHERE is_first = 0 AND changed_at >= ? AND changed_at < ?"
	s.each(ctx, "SELECT count(*), count(CASE WHEN change > 0 THEN 1 END), count(CASE WHEN change < 0 THEN 1 END) FROM bi_price_changes "+where, func(r row) {
		f.Prices.All, f.Prices.Up, f.Prices.Down = r.count(0), r.count(1), r.count(2)
	}, at.first, at.last)
	s.each(ctx, fmt.Sprintf(`SELECT e.name, c.product_code, c.price_name = 'cost_price', c.old_value, c.new_value, c.change, +c.changed_at
		FROM bi_price_changes AS c JOIN equipments AS e USING (equipment_key) %s
		ORDER BY abs(c.change) DESC NULLS LAST, c.product_code, c.price_name, c.changed_at LIMIT %d`, where, listRows), func(r row) {
		f.Prices.List = append(f.Prices.List, priceChange{
			Name: r.text(0), Code: r.text(1), Cost: r.count(2) == 1, Old: r.number(3), New: r.number(4), Change: r.number(5), At: r.text(6),
		})
	}, at.first, at.last)
}

// stock is how long the stock lasts, by days_of_cover of bi_stock alone: an item has run out at 0.
type stock struct {
	Cover   []coverage // by coverLimits, then longer
	Unknown int64      // not sold in 90 days, or of unknown stock
	Out     []item     // has run out, what sold most first
	Next    []item     // runs out within soon days, the soonest first
}

// coverLimits are the upper ends, in days, of the classes of items by how long they last.
var coverLimits = []float64{0, 15, 30, 60, 90}

// soon is how many of the classes after the first run out soon: within 30 days.
const soon = 2

// coverage is the number of items whose stock lasts that long.
type coverage struct{ Items, BelowMinimum int64 }

// item is an item of the catalogue at a distribution centre.
type item struct {
	Code, Name, Center                            string
	Free, Minimum, SoldLately, SoldQuarter, Cover float64
}

// runOut and runOutSoon are the numbers of items that have run out, and run out soon.
func (s stock) runOut() int64 { return s.Cover[0].Items }

func (s stock) runOutSoon() (items int64) {
	for _, c := range s.Cover[1 : 1+soon] {
		items += c.Items
	}
	return items
}

func (s *source) readStock(ctx context.Context, f *figures) {
	f.Stock.Cover = make([]coverage, len(coverLimits)+1)
	class := "CASE WHEN days_of_cover IS NULL THEN NULL"
	for i, limit := range coverLimits {
		class += fmt.Sprintf(" WHEN days_of_cover <= %g THEN %d", limit, i)
	}
	class += fmt.Sprintf(" ELSE %d END", len(coverLimits))
	s.each(ctx, "SELECT "+class+", count(*), count(CASE WHEN current < minimum THEN 1 END) FROM bi_stock GROUP BY 1", func(r row) {
		if r[0] == nil {
			f.Stock.Unknown = r.count(1)
			return
		}
		f.Stock.Cover[r.count(0)] = coverage{Items: r.count(1), BelowMinimum: r.count(2)}
	})
	f.Stock.Out = s.items(ctx, "s.days_of_cover <= 0")
	f.Stock.Next = s.items(ctx, fmt.Sprintf("s.days_of_cover > 0 AND s.days_of_cover <= %g", coverLimits[soon]))
}

// items reads what lasts shortest, and of the same what sold most.
func (s *source) items(ctx context.Context, where string) (list []item) {
	s.each(ctx, fmt.Sprintf(`SELECT s.product_code, e.name, s.center_code, max(0.0, s.current - coalesce(s.reserved, 0)), s.minimum, s.sold_30d, s.sold_90d, s.days_of_cover
		FROM bi_stock AS s JOIN equipments AS e USING (equipment_key) WHERE %s
		ORDER BY s.days_of_cover, s.sold_90d DESC, s.product_code, s.center_code LIMIT %d`, where, listRows), func(r row) {
		list = append(list, item{
			Code: r.text(0), Name: r.text(1), Center: r.text(2),
			Free: r.number(3), Minimum: r.number(4), SoldLately: r.number(5), SoldQuarter: r.number(6), Cover: r.number(7),
		})
	})
	return list
}

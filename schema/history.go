package schema

// Source is a table whose rows a History table follows, and where it takes each of its own columns from.
type Source struct {
	Rows  *Table // the root: one interval at a time for each record; or a Many table right under it: one for each element
	Feeds []Feed
}

// Feed says which column a column of a History table follows: one of the source's rows, or of a One table under the
// root. Without a Column it is ”.
type Feed struct {
	Into   string
	Table  *Table
	Column string
}

// Feed returns what feeds the named column, or nil.
func (s *Source) Feed(column string) *Feed {
	for i := range s.Feeds {
		if s.Feeds[i].Into == column {
			return &s.Feeds[i]
		}
	}
	return nil
}

// HistoryTables keep what the platform forgets: it only ever shows the present.
var HistoryTables = []*Table{RequestStatusHistory, EquipmentPriceHistory, EquipmentStockHistory}

// RequestStatusHistory is how each deal went.
var RequestStatusHistory = &Table{
	Name: "request_status_history", Doc: "How the status and value of each request changed, as far as the mirror has seen it: one row per interval.",
	Label: "Histórico da situação", Shape: History, Key: []string{"request_key", "valid_from"}, Of: Requests,
	Columns: concat(
		[]Column{requestKey(BigInt)},
		interval(),
		[]Column{
			like(Requests, "deal_status"),
			like(Requests, "stock_status"),
			like(requestPayments, "status").named("payment_status"),
			like(requestPayments, "transaction_status"),
			like(Requests, "final_value"),
			like(Requests, "removed"),
			inferred(),
		},
	),
	Sources: []Source{{Rows: Requests, Feeds: []Feed{
		{"deal_status", Requests, "deal_status"},
		{"stock_status", Requests, "stock_status"},
		{"payment_status", requestPayments, "status"},
		{"transaction_status", requestPayments, "transaction_status"},
		{"final_value", Requests, "final_value"},
		{"removed", Requests, "removed"},
	}}},
}

// EquipmentPriceHistory is what each item cost when.
var EquipmentPriceHistory = &Table{
	Name: "equipment_price_history", Doc: "How the prices of each item changed, as far as the mirror has seen it: one row per interval.",
	Label: "Histórico de preços", Shape: History, Key: []string{"equipment_key", "valid_from"}, Of: Equipments,
	Columns: concat(
		[]Column{equipmentKey(BigInt)},
		interval(),
		[]Column{
			like(Equipments, "base_price"),
			like(Equipments, "cost_price"),
			like(Equipments, "is_to_sell"),
			inferred(),
		},
	),
	Sources: []Source{{Rows: Equipments, Feeds: []Feed{
		{"base_price", Equipments, "base_price"},
		{"cost_price", Equipments, "cost_price"},
		{"is_to_sell", Equipments, "is_to_sell"},
	}}},
}

// EquipmentStockHistory is what was in stock when: all centres together, and each by itself.
var EquipmentStockHistory = &Table{
	Name: "equipment_stock_history", Doc: "How the stock of each item changed, as far as the mirror has seen it: one row per interval, for all centres together and for each centre that has a code. " +
		"A centre the platform no longer lists has no open interval.",
	Label: "Histórico do estoque", Shape: History, Key: []string{"equipment_key", "center_code", "valid_from"}, Of: Equipments,
	Columns: concat(
		[]Column{
			equipmentKey(BigInt),
			own("center_code", Text, "Code of the distribution centre; empty for all centres together.", "Centro de distribuição: código").notNull().public(),
		},
		interval(),
		[]Column{
			like(equipmentInventory, "current"),
			like(equipmentInventory, "reserved"),
			like(equipmentInventory, "minimum"),
			inferred(),
		},
	),
	Sources: []Source{
		{Rows: Equipments, Feeds: []Feed{
			{Into: "center_code"},
			{"current", Equipments, "inventory_current"},
			{"reserved", Equipments, "inventory_reserved"},
			{"minimum", Equipments, "inventory_minimum"},
		}},
		{Rows: equipmentInventory, Feeds: []Feed{
			{"center_code", equipmentInventory, "center_code"},
			{"current", equipmentInventory, "current"},
			{"reserved", equipmentInventory, "reserved"},
			{"minimum", equipmentInventory, "minimum"},
		}},
	},
}

// interval is when a row of history holds: from valid_from on, up to but not with valid_to.
func interval() []Column {
	return []Column{
		own("valid_from", Timestamp, "When the page was read that first showed these values.", "Válido desde").unit("UTC").notNull().public(),
		own("valid_to", Timestamp, "When the page was read that first showed others; NULL while these are the present ones.", "Válido até").unit("UTC").public(),
	}
}

func inferred() Column {
	return own("is_inferred", Boolean, "1 where the record was first seen with these values, which may have been there long before valid_from; 0 where the mirror saw them change.", "Início não observado").notNull().check().public()
}

// like is a column that repeats one of another table.
func like(t *Table, column string) Column {
	c := *t.Column(column)
	c.Path = ""
	return c
}

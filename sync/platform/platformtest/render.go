package platformtest

import (
	"fmt"
	"strconv"
	"time"
)

// appendRequest appends the JSON of request i in state r.
func (s *scene) appendRequest(b []byte, i uint32, r *request) []byte {
	w := &jsonWriter{b: append(b, '{')}
	z := s.size(i, r)
	v := s.sale(i, r, z)
	seller, buyer := s.seller(i), s.buyer(i, r)
	client, site := s.customer(i, z.segment), s.site(i)
	facts := r.stage.facts()

	w.str("id", s.id(i, r))
	w.str("name", s.name(i, z.segment, client))
	w.str("code", s.code(i, r))
	w.str("kind", pick(s.paper(i, 0), []string{"Kit fechado", "Kit fechado", "Monte seu kit", "Venda avulsa"}))
	w.float("totalPower", z.watts()/1000)
	w.timestamp("budgetCreated", r.created)
	w.timestamp("orderCreated", r.ordered)
	w.str("dealStatus", facts.deal)
	w.str("stockStatus", facts.stock)
	w.money("originalValue", v.original)
	w.money("discount", v.discount)
	w.money("surcharge", v.surcharge)
	w.money("finalValue", v.final)
	w.money("differenceWithPaymentConditionApplied", v.difference)
	w.strOrNull("notes", s.notes(i, r, client))
	writePerson(w, "addedBy", s.addedBy(i, seller, buyer))
	s.writePayment(w, i, r, v, client)
	writePerson(w, "responsible", seller)
	writeCompany(w, buyer)
	s.writeProducts(w, i, z, v)
	writeFiles(w, s.paper(i, 1), r)
	writeCustomForm(w, s.paper(i, 2), z, client)
	writeStructure(w, s.paper(i, 3), z)
	s.writeFreight(w, s.paper(i, 4), i, z, site)
	writeInvoice(w, s.paper(i, 5), r, v, client, site)
	w.boolean("apiSent", r.billed != 0)
	w.timestamp("apiSentUpdated", apiSentAt(r))
	w.strOrNull("billingDate", s.date(r.billed))
	writeCustomData(w, s.paper(i, 6), z)
	w.boolean("removed", r.removed)
	w.close('}')
	return w.b
}

// paper returns dice for one part of a request. What a part draws may depend on the state; the other parts must not
// notice.
func (s *scene) paper(i uint32, part uint64) *dice {
	d := throw(s.seed, streamPaper, uint64(i), part)
	return &d
}

// apiSentAt is when an order was handed to the billing system, a little after it was billed.
func apiSentAt(r *request) int64 {
	if r.billed == 0 {
		return 0
	}
	return r.billed + 73_512
}

// date is the day of a moment in the platform's zone, empty for zero.
func (s *scene) date(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).In(s.zone).Format(time.DateOnly)
}

func writePerson(w *jsonWriter, name string, p person) {
	w.object(name)
	w.str("name", p.name)
	w.str("surname", p.surname)
	w.str("email", p.email)
	w.str("cellphone", p.cellphone)
	w.close('}')
}

func (s *scene) writePayment(w *jsonWriter, i uint32, r *request, v sale, client customer) {
	d := throw(s.seed, streamPayment, uint64(i), 1)
	receipt, transaction := string(d.hex(nil, 24)), string(d.hex(nil, 32))
	nsu, authorization := string(d.digits(nil, 9)), string(d.digits(nil, 6))
	facts := r.stage.facts()
	w.object("payment")
	w.str("type", v.payment.kind)
	w.object("condition")
	w.str("name", v.payment.name)
	w.integer("quantityOfInstallments", v.payment.instalments)
	w.str("conditionType", v.payment.condition)
	w.str("modifierType", v.payment.modifier)
	w.integer("value", v.payment.value)
	w.close('}')
	w.str("status", facts.payment)
	w.str("description", fmt.Sprintf("%s, %d parcela(s)", v.payment.name, v.payment.instalments))
	w.array("files")
	if r.paid != 0 {
		w.open('{')
		w.str("path", "payments/"+receipt+".pdf")
		w.str("originalName", "comprovante_"+s.date(r.paid)+".pdf")
		w.close('}')
	}
	w.close(']')
	w.strOrNull("transactionStatus", facts.transaction)
	if facts.transaction == "" {
		w.null("transactionId")
	} else {
		w.str("transactionId", transaction)
	}
	if r.paid == 0 {
		w.null("authorizationNsu")
		w.null("authorizationCode")
		w.null("paidAt")
	} else {
		w.str("authorizationNsu", nsu)
		w.str("authorizationCode", authorization)
		w.str("paidAt", time.UnixMilli(r.paid).In(s.zone).Format("2006-01-02T15:04"))
	}
	writeCreditCard(w, &d, v.payment, client)
	w.close('}')
}

func writeCreditCard(w *jsonWriter, d *dice, p payment, client customer) {
	if p.kind != "credito" {
		w.null("creditCard")
		return
	}
	w.object("creditCard")
	w.str("brand", pick(d, []string{"Visa", "Mastercard", "Elo", "Hipercard", "American Express"}))
	w.str("last4digits", string(d.digits(nil, 4)))
	w.str("first6digits", string(d.digits([]byte{"2345"[d.below(4)]}, 5)))
	w.str("holderName", client.person.fullName())
	w.close('}')
}

func writeCompany(w *jsonWriter, c company) {
	w.object("company")
	w.strOrNull("cnpj", c.cnpj)
	w.strOrNull("cpf", c.cpf)
	w.str("fantasyName", c.fantasyName)
	w.strOrNull("companyName", c.legal)
	writePerson(w, "mainContact", c.contact)
	w.object("address")
	writeAddress(w, c.address)
	w.close('}')
	w.close('}')
}

func writeAddress(w *jsonWriter, a address) {
	w.str("CEP", a.cep)
	w.str("state", a.state)
	w.str("city", a.city)
	w.str("neighborhood", a.neighborhood)
	w.str("patio", a.street)
	w.str("number", a.number)
	w.str("complement", a.complement)
}

// writeFullAddress writes the nine fields of a freight or an invoice address.
func writeFullAddress(w *jsonWriter, a address) {
	w.object("address")
	writeAddress(w, a)
	w.str("patioFormatted", a.streetWithoutType)
	w.str("patioType", a.streetType)
	w.close('}')
}

func (s *scene) writeProducts(w *jsonWriter, i uint32, z size, v sale) {
	center := centers[centerOf(s.unit(i))]
	w.array("products")
	for _, l := range v.lines {
		w.open('{')
		w.str("type", l.kind)
		w.str("productCode", l.code)
		w.str("name", l.name)
		w.integer("quantity", l.quantity)
		w.money("singlePrice", l.single)
		w.money("totalPrice", l.total())
		if l.kind == typeModule {
			w.object("structure")
			w.str("name", "Estrutura "+z.segment.roofs[0])
			w.str("type", z.segment.roofs[0])
			w.integer("amount", (l.quantity+3)/4)
			w.money("price", l.single/9)
			w.close('}')
		} else {
			w.null("structure")
		}
		if l.kind == "extraItem" {
			w.null("center")
		} else {
			w.object("center")
			w.str("name", center.name)
			w.str("code", center.code)
			w.close('}')
		}
		w.close('}')
	}
	w.close(']')
}

func (s *scene) writeFreight(w *jsonWriter, d *dice, i uint32, z size, site address) {
	w.object("freight")
	w.str("type", pick(d, []string{"CIF", "CIF", "CIF", "FOB"}))
	w.str("zoneType", z.segment.zone)
	w.str("timeRestriction", pick(d, []string{"Sem restrição", "Das 8h às 17h", "Somente manhã (até 12h)", "Agendar com 24h de antecedência", ""}))
	w.str("truckPossible", pick(d, []string{"Sim", "Sim", "Sim", "Não"}))
	// The farther from a centre the dearer, and by weight.
	w.money("price", 18000+int64(s.unit(i)%9)*4200+int64(z.modules)*int64(d.between(450, 900)))
	w.object("integrationData")
	if d.chance(0.35) {
		w.str("id", string(d.digits(nil, 7)))
		w.str("name", pick(d, []string{"Rodoviário padrão", "Expresso", "Fracionado"}))
		w.str("logisticProviderName", pick(d, []string{"Braspress", "Jamef", "Rodonaves", "TNT Mercúrio", "Patrus"}))
	}
	w.close('}')
	writeFullAddress(w, site)
	w.close('}')
}

// writeInvoice writes null until a proposal has been sent: nobody asks for billing data before.
func writeInvoice(w *jsonWriter, d *dice, r *request, v sale, client customer, site address) {
	if r.stage < stageProposed {
		w.null("invoice")
		return
	}
	w.object("invoice")
	w.str("razaoSocial", orElse(client.legalName, client.person.fullName()))
	w.strOrNull("nomeFantasia", client.fantasyName)
	w.strOrNull("cnpj", client.cnpj)
	w.strOrNull("cpf", client.cpf)
	w.strOrNull("rg", client.rg)
	w.strOrNull("ie", client.stateInscription)
	w.str("temInscricaoEstadual", yesOrNo(client.stateInscription != ""))
	w.str("telephone", client.person.cellphone)
	w.str("email", client.person.email)
	service := int64(0)
	if d.chance(0.3) {
		service = v.final / 100 * int64(d.between(5, 20))
	}
	w.money("originalInvoiceValue", v.final)
	w.money("serviceToAddInvoiceValue", service)
	w.money("requestedInvoiceValue", v.final+service)
	writeFullAddress(w, site)
	w.close('}')
}

func yesOrNo(yes bool) string {
	if yes {
		return "sim"
	}
	return "nao"
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// writeStructure spreads the modules over a roof, so that the arrangements add up to their number.
func writeStructure(w *jsonWriter, d *dice, z size) {
	w.array("structure")
	w.open('{')
	w.str("kind", pick(d, z.segment.roofs))
	w.array("arrangements")
	for _, a := range arrange(z.modules) {
		w.open('{')
		w.integer("linesAmount", a.lines)
		w.integer("modulesByLine", a.byLine)
		w.str("orientation", pick(d, []string{"Retrato", "Paisagem"}))
		w.close('}')
	}
	w.close(']')
	w.close('}')
	w.close(']')
}

func writeCustomData(w *jsonWriter, d *dice, z size) {
	w.array("customData")
	for _, field := range [][3]string{
		{"crmId", strconv.Itoa(100000 + d.below(900000)), "number"},
		{"segmento", z.segment.name, "text"},
		{"visitaTecnica", yesOrNo(d.chance(0.5)), "boolean"},
	} {
		w.open('{')
		w.str("key", field[0])
		w.str("value", field[1])
		w.str("type", field[2])
		w.close('}')
	}
	w.close(']')
}

package schema

// The constructors below keep a declaration to one line. Each derives the column's name from its JSON Pointer.
// None makes a column public: the declaration ends with public() itself.

func field(path string, t Type, doc, label string) Column {
	return Column{Name: SnakeCase(path, "_"), Type: t, Path: path, Doc: doc, Label: label}
}

func text(path, doc, label string) Column { return field(path, Text, doc, label) }

// personal is a TEXT column that may hold personal data.
func personal(path, doc, label string) Column { return text(path, doc, label).personal() }

// identity is a personal column by which people or companies are told apart.
func identity(path, doc, label string) Column { return text(path, doc, label).counted() }

func real(path, unit, doc, label string) Column {
	c := field(path, Real, doc, label)
	c.Unit = unit
	return c
}

// money is in the platform's own unit, which its interface does not state.
func money(path, doc, label string) Column { return real(path, NotStated, doc, label) }

func bigint(path, unit, doc, label string) Column {
	c := field(path, BigInt, doc, label)
	c.Unit = unit
	return c
}

func boolean(path, doc, label string) Column { return field(path, Boolean, doc, label).check() }

func timestamp(path, doc, label string) Column {
	c := field(path, Timestamp, doc, label)
	c.Unit = "UTC"
	return c
}

func date(path, doc, label string) Column { return field(path, Date, doc, label) }

// own is a column of our making, fed by no field of the record.
func own(name string, t Type, doc, label string) Column {
	return Column{Name: name, Type: t, Doc: doc, Label: label}
}

func (c Column) named(name string) Column { c.Name = name; return c }
func (c Column) notNull() Column          { c.Not = true; return c }
func (c Column) public() Column           { c.Privacy = Public; return c }
func (c Column) personal() Column         { c.Privacy = Personal; return c }
func (c Column) counted() Column          { c.Privacy = Counted; return c }
func (c Column) unit(u string) Column     { c.Unit = u; return c }
func (c Column) local() Column            { c.Local, c.Unit = true, "local time at the source"; return c }
func (c Column) clause(sql string) Column { c.Clause = sql; return c }

// check bounds a BOOLEAN to 0 and 1.
func (c Column) check() Column { return c.clause("CHECK (" + c.Name + " IN (0, 1))") }

// oneOf bounds a TEXT column of ours to a set of words.
func (c Column) oneOf(words ...string) Column {
	list := ""
	for i, w := range words {
		if i > 0 {
			list += ", "
		}
		list += "'" + w + "'"
	}
	return c.clause("CHECK (" + c.Name + " IN (" + list + "))")
}

// person is the four fields of a contact.
func person(path, who, quem string) []Column {
	return []Column{
		personal(path+"/name", "First name of "+who+".", quem+": nome"),
		personal(path+"/surname", "Surname of "+who+".", quem+": sobrenome"),
		identity(path+"/email", "E-mail address of "+who+".", quem+": e-mail"),
		personal(path+"/cellphone", "Mobile number of "+who+".", quem+": celular"),
	}
}

// address is the seven fields of a postal address; delivery and invoice addresses have two more.
func address(path, whose, de string) []Column {
	return []Column{
		personal(path+"/CEP", "Postal code of "+whose+".", de+": CEP"),
		text(path+"/state", "Federative unit (two letters) of "+whose+".", de+": UF").public(),
		text(path+"/city", "City of "+whose+".", de+": cidade").public(),
		personal(path+"/neighborhood", "Neighbourhood of "+whose+".", de+": bairro"),
		personal(path+"/patio", "Street name of "+whose+".", de+": logradouro"),
		personal(path+"/number", "Street number of "+whose+".", de+": número"),
		personal(path+"/complement", "Address complement of "+whose+".", de+": complemento"),
	}
}

func longAddress(path, whose, de string) []Column {
	return append(address(path, whose, de),
		personal(path+"/patioFormatted", "Street name with its type, of "+whose+".", de+": logradouro formatado"),
		text(path+"/patioType", "Kind of street (Rua, Avenida, …) of "+whose+".", de+": tipo de logradouro").public(),
	)
}

func concat(lists ...[]Column) []Column {
	var all []Column
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// bookkeeping is what every root row carries besides its fields. The hash counts as personal: whoever
// knows the rest of a record could try numbers until it fits. So does the time of an erasure: beside
// the request for the erasure it names the person.
func bookkeeping() []Column {
	return []Column{
		own("extra", Text, "Values of the record that no column holds or whose type does not fit theirs: a JSON object from JSON Pointer to raw value. NULL when there are none.", "Campos sem coluna (JSON)").personal(),
		own("_hash", Blob, "Hash of the record's bytes, then of its content whatever the order of keys and the white space; 8 bytes each.", "Resumo do conteúdo").personal(),
		own("_first_seen_at", Timestamp, "When the record was first read.", "Visto pela primeira vez em").unit("UTC").public(),
		own("_changed_at", Timestamp, "When the page was read that brought the present content.", "Alterado em").unit("UTC").public(),
		own("_deleted_at", Timestamp, "When the record was found to be gone from the platform (tombstone); NULL while it is present.", "Excluído em").unit("UTC").public(),
		own("_erased_at", Timestamp, "When personal fields of the record were erased; NULL when none were, or when the platform has changed the record since.", "Dados pessoais apagados em").unit("UTC").personal(),
	}
}

func position(doc, label string) Column {
	return own("position", BigInt, doc, label).notNull()
}

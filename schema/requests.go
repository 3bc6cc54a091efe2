package schema

// requestKey is the first column of every table under requests.
func requestKey(t Type) Column {
	return own("request_key", t, "The request this belongs to.", "Pedido (chave)").notNull().clause("REFERENCES requests(request_key)").public()
}

// Requests holds budgets and orders, which the platform together calls requests.
var Requests = &Table{
	Name:  "requests",
	Doc:   "One row per budget or order. A budget that became an order stays as a row of its own.",
	Label: "Pedidos e orçamentos",
	Shape: Root,
	Key:   []string{"request_key"},
	Unique: []string{
		"request_type", "id",
	},
	Indices: [][]string{{"code"}, {"order_created"}, {"deal_status"}, {deletedAt}},
	Columns: concat(
		[]Column{
			own("request_key", Surrogate, "Surrogate key of the request, of the mirror's own making.", "Chave do pedido").public(),
			own("request_type", Text, "Which list of the platform the record stands in: order or budget.", "Tipo (pedido ou orçamento)").notNull().oneOf("order", "budget").public(),
			text("/id", "The platform's identifier of the request.", "Identificador").notNull().public(),
			personal("/name", "Name given to the request; often that of the customer.", "Nome"),
			text("/code", "Budget or order code shown to people.", "Código").public(),
			text("/kind", "Kind of the request.", "Espécie").public(),
			real("/totalPower", NotStated, "Power of the system. The platform gives no unit; [marts] power_unit says how the marts read it.", "Potência total").public(),
			timestamp("/budgetCreated", "When the budget was created.", "Orçamento criado em").public(),
			timestamp("/orderCreated", "When the order was created.", "Pedido criado em").public(),
			text("/dealStatus", "Status of the deal. The platform gives no closed list.", "Situação do negócio").public(),
			text("/stockStatus", "Status of the stock reservation. The platform gives no closed list.", "Situação do estoque").public(),
			money("/originalValue", "Value before discount and surcharge.", "Valor original").public(),
			money("/discount", "Discount.", "Desconto").public(),
			money("/surcharge", "Surcharge.", "Acréscimo").public(),
			money("/finalValue", "Final value.", "Valor final").public(),
			money("/differenceWithPaymentConditionApplied", "Difference between the value and the final value with the payment condition applied.", "Diferença pela condição de pagamento").public(),
			personal("/notes", "Internal notes; may hold HTML.", "Observações"),
		},
		person("/addedBy", "whoever added the request", "Criado por"),
		person("/responsible", "the responsible collaborator (seller)", "Responsável"),
		[]Column{
			boolean("/apiSent", "Whether the request was sent on through the platform's integration.", "Enviado pela API").public(),
			timestamp("/apiSentUpdated", "When apiSent last changed.", "Envio pela API atualizado em").public(),
			date("/billingDate", "Date of billing.", "Data de faturamento").public(),
			boolean("/removed", "Whether the platform says the record has been removed. NULL when it does not say.", "Removido").public(),
		},
		bookkeeping(),
	),
	Children: []*Table{
		requestPayments, requestPaymentFiles, requestCompanies, requestProducts, requestFiles, requestCustomForm,
		requestStructures, requestFreights, requestInvoices, customData("request_custom_data", requestKey(BigInt)),
	},
}

var requestPayments = &Table{
	Name: "request_payments", Doc: "How a request is paid.", Label: "Pagamentos",
	Shape: One, Path: "/payment", Key: []string{"request_key"},
	Columns: []Column{
		requestKey(Surrogate),
		text("/type", "Means of payment: pix, boleto, debito, credito, financiamento, other.", "Forma de pagamento").public(),
		text("/condition/name", "Name of the payment condition.", "Condição: nome").public(),
		bigint("/condition/quantityOfInstallments", "instalments", "Number of instalments.", "Condição: parcelas").public(),
		text("/condition/conditionType", "What the condition does to the value: notUpdate, increase, decrease.", "Condição: efeito").public(),
		text("/condition/modifierType", "How the condition's value counts: percentage or fixed.", "Condição: modificador").public(),
		real("/condition/value", "percent or money, as condition_modifier_type says", "Value of the payment condition.", "Condição: valor").public(),
		text("/status", "Payment status: notRequested, requested, received, cancelled.", "Situação do pagamento").public(),
		personal("/description", "Free text about the payment.", "Descrição"),
		text("/transactionStatus", "Status of the payment transaction. The platform gives no closed list.", "Situação da transação").public(),
		personal("/transactionId", "Identifier of the payment transaction.", "Transação"),
		personal("/authorizationNsu", "Sequence number (NSU) of the authorization.", "NSU da autorização"),
		personal("/authorizationCode", "Code of the authorization.", "Código da autorização"),
		timestamp("/paidAt", "When it was paid. The platform gives no zone: local time, kept as it is.", "Pago em").local().public(),
		text("/creditCard/brand", "Brand of the credit card.", "Cartão: bandeira").public(),
		personal("/creditCard/last4digits", "Last four digits of the credit card.", "Cartão: últimos 4 dígitos"),
		personal("/creditCard/first6digits", "First six digits of the credit card.", "Cartão: primeiros 6 dígitos"),
		personal("/creditCard/holderName", "Holder of the credit card.", "Cartão: titular"),
	},
}

var requestPaymentFiles = &Table{
	Name: "request_payment_files", Doc: "Files attached to a payment.", Label: "Arquivos do pagamento",
	Shape: Many, Path: "/payment/files", Key: []string{"request_key", "position"},
	Columns: []Column{
		requestKey(BigInt), position("Place in the list, from 1.", "Posição").public(),
		personal("/path", "Where the platform keeps the file.", "Caminho"),
		personal("/originalName", "Name of the file as uploaded.", "Nome original"),
	},
}

var requestCompanies = &Table{
	Name: "request_companies", Doc: "The energy company of a request.", Label: "Empresas",
	Shape: One, Path: "/company", Key: []string{"request_key"},
	Columns: concat(
		[]Column{
			requestKey(Surrogate),
			identity("/cnpj", "Company taxpayer number (CNPJ).", "CNPJ"),
			identity("/cpf", "Personal taxpayer number (CPF).", "CPF"),
			personal("/fantasyName", "Trade name.", "Nome fantasia"),
			personal("/companyName", "Legal name.", "Razão social"),
		},
		person("/mainContact", "the company's main contact", "Contato principal"),
		address("/address", "the company", "Empresa"),
	),
}

var requestProducts = &Table{
	Name: "request_products", Doc: "Product lines of a request. Type and product_code name the item in equipments, while the catalogue has it.", Label: "Produtos",
	Shape: Many, Path: "/products", Key: []string{"request_key", "position"}, Indices: [][]string{{"product_code"}},
	Columns: []Column{
		requestKey(BigInt), position("Line number, from 1.", "Posição").public(),
		text("/type", "Type of product: module, inverter, stringBox, complementaryEquipment, extraItem.", "Tipo").public(),
		text("/productCode", "Product code, as in equipments.", "Código do produto").public(),
		text("/name", "Name of the product.", "Nome").public(),
		real("/quantity", "pieces", "Quantity.", "Quantidade").public(),
		money("/singlePrice", "Price of one.", "Preço unitário").public(),
		money("/totalPrice", "Price of the line.", "Preço total").public(),
		text("/structure/name", "Name of the mounting structure.", "Estrutura: nome").public(),
		text("/structure/type", "Type of the mounting structure.", "Estrutura: tipo").public(),
		real("/structure/amount", "pieces", "Quantity of the mounting structure.", "Estrutura: quantidade").public(),
		money("/structure/price", "Price of the mounting structure.", "Estrutura: preço").public(),
		text("/center/name", "Name of the distribution centre.", "Centro de distribuição: nome").public(),
		text("/center/code", "Code of the distribution centre.", "Centro de distribuição: código").public(),
	},
}

var requestFiles = &Table{
	Name: "request_files", Doc: "Groups of files attached to a request.", Label: "Arquivos",
	Shape: Many, Path: "/files", Key: []string{"request_key", "position"}, Bare: "/uploadedFiles",
	Columns: []Column{
		requestKey(BigInt), position("Place in the list, from 1.", "Posição").public(),
		text("/category", "Category of the files.", "Categoria").public(),
	},
	Children: []*Table{{
		Name: "request_uploaded_files", Doc: "File names of each group of files.", Label: "Arquivos enviados",
		Shape: Many, Path: "/uploadedFiles", Key: []string{"request_key", "file_position", "position"},
		Columns: []Column{
			requestKey(BigInt),
			own("file_position", BigInt, "Position of the group in request_files.", "Posição do grupo").notNull().public(),
			position("Place in the group, from 1.", "Posição").public(),
			personal(".", "Name of the file.", "Nome do arquivo").named("file_name"),
		},
	}},
}

var requestCustomForm = &Table{
	Name: "request_custom_form", Doc: "Answers to the seller's own form.", Label: "Formulário",
	Shape: Many, Path: "/customForm", Key: []string{"request_key", "position"},
	Columns: []Column{
		requestKey(BigInt), position("Place in the form, from 1.", "Posição").public(),
		personal("/question", "The question.", "Pergunta"),
		personal("/answer", "The answer.", "Resposta"),
	},
}

var requestStructures = &Table{
	Name: "request_structures", Doc: "Mounting structures of the system.", Label: "Estruturas",
	Shape: Many, Path: "/structure", Key: []string{"request_key", "position"},
	Columns: []Column{
		requestKey(BigInt), position("Place in the list, from 1.", "Posição").public(),
		text("/kind", "Kind of structure.", "Tipo").public(),
	},
	Children: []*Table{{
		Name: "request_arrangements", Doc: "How the modules lie on each structure.", Label: "Arranjos",
		Shape: Many, Path: "/arrangements", Key: []string{"request_key", "structure_position", "position"},
		Columns: []Column{
			requestKey(BigInt),
			own("structure_position", BigInt, "Position of the structure in request_structures.", "Posição da estrutura").notNull().public(),
			position("Place in the structure, from 1.", "Posição").public(),
			bigint("/linesAmount", "lines", "Number of lines of modules.", "Linhas").public(),
			bigint("/modulesByLine", "modules", "Modules in each line.", "Módulos por linha").public(),
			text("/orientation", "Orientation of the modules: Retrato or Paisagem.", "Orientação").public(),
		},
	}},
}

var requestFreights = &Table{
	Name: "request_freights", Doc: "Delivery of a request.", Label: "Fretes",
	Shape: One, Path: "/freight", Key: []string{"request_key"},
	Columns: concat(
		[]Column{
			requestKey(Surrogate),
			text("/type", "Who carries the freight: CIF or FOB.", "Tipo").public(),
			text("/zoneType", "Zone of delivery: Rural or Urbana.", "Zona").public(),
			text("/timeRestriction", "Restriction of the delivery time.", "Restrição de horário").personal(),
			text("/truckPossible", "Whether a truck can reach the place: Sim or Não.", "Acesso de caminhão").public(),
			money("/price", "Price of the freight.", "Preço").public(),
			text("/integrationData/id", "Identifier of the freight integration, where there is one.", "Integração: identificador").public(),
			text("/integrationData/name", "Name of the freight integration.", "Integração: nome").public(),
			text("/integrationData/logisticProviderName", "Carrier given by the freight integration.", "Integração: transportadora").public(),
		},
		longAddress("/address", "the delivery", "Entrega"),
	),
}

var requestInvoices = &Table{
	Name: "request_invoices", Doc: "Whom and what a request is invoiced for.", Label: "Notas fiscais",
	Shape: One, Path: "/invoice", Key: []string{"request_key"},
	Columns: concat(
		[]Column{
			requestKey(Surrogate),
			personal("/razaoSocial", "Legal name of the invoiced party.", "Razão social"),
			personal("/nomeFantasia", "Trade name of the invoiced party.", "Nome fantasia"),
			identity("/cnpj", "Company taxpayer number (CNPJ) of the invoiced party.", "CNPJ"),
			identity("/cpf", "Personal taxpayer number (CPF) of the invoiced party.", "CPF"),
			personal("/rg", "Identity card number (RG) of the invoiced party.", "RG"),
			personal("/ie", "State registration number (IE) of the invoiced party.", "IE"),
			text("/temInscricaoEstadual", "sim when the invoiced party has a state registration.", "Tem inscrição estadual").public(),
			personal("/telephone", "Telephone of the invoiced party.", "Telefone"),
			identity("/email", "E-mail address of the invoiced party.", "E-mail"),
			money("/originalInvoiceValue", "Value of the invoice as first made out.", "Valor original da nota").public(),
			money("/serviceToAddInvoiceValue", "Value of services to add to the invoice.", "Serviços a acrescentar").public(),
			money("/requestedInvoiceValue", "Value the invoice was requested for.", "Valor solicitado da nota").public(),
		},
		longAddress("/address", "the invoiced party", "Faturamento"),
	),
}

// customData is the list of key, value and type that both kinds of record carry.
func customData(name string, key Column) *Table {
	return &Table{
		Name: name, Doc: "Fields the seller's own set-up adds to a record.", Label: "Campos personalizados",
		Shape: Many, Path: "/customData", Key: []string{key.Name, "position"},
		Columns: []Column{
			key, position("Place in the list, from 1.", "Posição").public(),
			text("/key", "Name of the field.", "Campo").public(),
			personal("/value", "Value of the field.", "Valor"),
			text("/type", "Type of the field.", "Tipo").public(),
		},
	}
}

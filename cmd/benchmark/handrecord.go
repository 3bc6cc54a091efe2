package main

// The platform's request as a program written by hand would declare it, member by member of the interface.

type handPage struct {
	Data struct {
		Items []handRequest `json:"items"`
	} `json:"data"`
}

type handRequest struct {
	ID             string           `json:"id"`
	Name           *string          `json:"name"`
	Code           *string          `json:"code"`
	Kind           *string          `json:"kind"`
	TotalPower     *float64         `json:"totalPower"`
	BudgetCreated  *string          `json:"budgetCreated"`
	OrderCreated   *string          `json:"orderCreated"`
	DealStatus     *string          `json:"dealStatus"`
	StockStatus    *string          `json:"stockStatus"`
	OriginalValue  *float64         `json:"originalValue"`
	Discount       *float64         `json:"discount"`
	Surcharge      *float64         `json:"surcharge"`
	FinalValue     *float64         `json:"finalValue"`
	Difference     *float64         `json:"differenceWithPaymentConditionApplied"`
	Notes          *string          `json:"notes"`
	AddedBy        handPerson       `json:"addedBy"`
	Payment        *handPayment     `json:"payment"`
	Responsible    handPerson       `json:"responsible"`
	Company        *handCompany     `json:"company"`
	Products       []handProduct    `json:"products"`
	Files          []handFiles      `json:"files"`
	CustomForm     []handAnswer     `json:"customForm"`
	Structure      []handStructure  `json:"structure"`
	Freight        *handFreight     `json:"freight"`
	Invoice        *handInvoice     `json:"invoice"`
	APISent        *bool            `json:"apiSent"`
	APISentUpdated *string          `json:"apiSentUpdated"`
	BillingDate    *string          `json:"billingDate"`
	CustomData     []handCustomData `json:"customData"`
	Removed        *bool            `json:"removed"`
}

type handPerson struct {
	Name      *string `json:"name"`
	Surname   *string `json:"surname"`
	Email     *string `json:"email"`
	Cellphone *string `json:"cellphone"`
}

type handAddress struct {
	CEP          *string `json:"CEP"`
	State        *string `json:"state"`
	City         *string `json:"city"`
	Neighborhood *string `json:"neighborhood"`
	Patio        *string `json:"patio"`
	Number       *string `json:"number"`
	Complement   *string `json:"complement"`
}

type handLongAddress struct {
	handAddress
	PatioFormatted *string `json:"patioFormatted"`
	PatioType      *string `json:"patioType"`
}

type handPayment struct {
	Type      *string `json:"type"`
	Condition struct {
		Name          *string  `json:"name"`
		Installments  *int64   `json:"quantityOfInstallments"`
		ConditionType *string  `json:"conditionType"`
		ModifierType  *string  `json:"modifierType"`
		Value         *float64 `json:"value"`
	} `json:"condition"`
	Status      *string `json:"status"`
	Description *string `json:"description"`
	Files       []struct {
		Path         *string `json:"path"`
		OriginalName *string `json:"originalName"`
	} `json:"files"`
	TransactionStatus *string `json:"transactionStatus"`
	TransactionID     *string `json:"transactionId"`
	AuthorizationNSU  *string `json:"authorizationNsu"`
	AuthorizationCode *string `json:"authorizationCode"`
	PaidAt            *string `json:"paidAt"`
	CreditCard        struct {
		Brand        *string `json:"brand"`
		Last4Digits  *string `json:"last4digits"`
		First6Digits *string `json:"first6digits"`
		HolderName   *string `json:"holderName"`
	} `json:"creditCard"`
}

type handCompany struct {
	CNPJ        *string     `json:"cnpj"`
	CPF         *string     `json:"cpf"`
	FantasyName *string     `json:"fantasyName"`
	CompanyName *string     `json:"companyName"`
	MainContact handPerson  `json:"mainContact"`
	Address     handAddress `json:"address"`
}

type handProduct struct {
	Type        *string  `json:"type"`
	ProductCode *string  `json:"productCode"`
	Name        *string  `json:"name"`
	Quantity    *float64 `json:"quantity"`
	SinglePrice *float64 `json:"singlePrice"`
	TotalPrice  *float64 `json:"totalPrice"`
	Structure   struct {
		Name   *string  `json:"name"`
		Type   *string  `json:"type"`
		Amount *float64 `json:"amount"`
		Price  *float64 `json:"price"`
	} `json:"structure"`
	Center struct {
		Name *string `json:"name"`
		Code *string `json:"code"`
	} `json:"center"`
}

type handFiles struct {
	Category      *string  `json:"category"`
	UploadedFiles []string `json:"uploadedFiles"`
}

type handAnswer struct {
	Question *string `json:"question"`
	Answer   *string `json:"answer"`
}

type handStructure struct {
	Kind         *string `json:"kind"`
	Arrangements []struct {
		LinesAmount   *int64  `json:"linesAmount"`
		ModulesByLine *int64  `json:"modulesByLine"`
		Orientation   *string `json:"orientation"`
	} `json:"arrangements"`
}

type handFreight struct {
	Type            *string  `json:"type"`
	ZoneType        *string  `json:"zoneType"`
	TimeRestriction *string  `json:"timeRestriction"`
	TruckPossible   *string  `json:"truckPossible"`
	Price           *float64 `json:"price"`
	IntegrationData struct {
		ID                   *string `json:"id"`
		Name                 *string `json:"name"`
		LogisticProviderName *string `json:"logisticProviderName"`
	} `json:"integrationData"`
	Address handLongAddress `json:"address"`
}

type handInvoice struct {
	RazaoSocial          *string         `json:"razaoSocial"`
	NomeFantasia         *string         `json:"nomeFantasia"`
	CNPJ                 *string         `json:"cnpj"`
	CPF                  *string         `json:"cpf"`
	RG                   *string         `json:"rg"`
	IE                   *string         `json:"ie"`
	TemInscricaoEstadual *string         `json:"temInscricaoEstadual"`
	Telephone            *string         `json:"telephone"`
	Email                *string         `json:"email"`
	OriginalValue        *float64        `json:"originalInvoiceValue"`
	ServiceToAddValue    *float64        `json:"serviceToAddInvoiceValue"`
	RequestedValue       *float64        `json:"requestedInvoiceValue"`
	Address              handLongAddress `json:"address"`
}

type handCustomData struct {
	Key   *string `json:"key"`
	Value *string `json:"value"`
	Type  *string `json:"type"`
}

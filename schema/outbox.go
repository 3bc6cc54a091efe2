package schema

// Company creations: what the mirror tells of them, and the outbox, which lives in a private file of its own because it
// holds passwords and SQLite has no row permissions. OutboxTables are therefore no part of All.

// OutboxVersion numbers the tables of the outbox file, as Version does those of the mirror.
const OutboxVersion = 2

// CompanyCreations is what became of each queued company, without secrets. It is part of the mirror. The outbox writes it, and
// asks it before sending whether its own file was put back from a backup.
var CompanyCreations = &Table{
	Name: "company_creations", Doc: "What became of each company queued for creation on the platform, without secrets.", Label: "Cadastros de empresas", Shape: Ledger,
	Key: []string{"intent_id"},
	Columns: []Column{
		own("intent_id", Text, "The intent to create one company, whatever happens to files and numbers.", "Intenção").notNull().counted(),
		own("outbox_id", BigInt, "Number of the row in the outbox.", "Fila").notNull().public(),
		own("tax_id_masked", Text, "CPF or CNPJ with most digits hidden.", "CPF/CNPJ (mascarado)").personal(),
		own("email_masked", Text, "E-mail address with most of its name hidden.", "E-mail (mascarado)").personal(),
		own("state", Text, "pending (to be sent), sending, done (created), rejected (invalid or refused), ambiguous (in doubt: a person or the mirror decides), cancelled.", "Situação").
			notNull().oneOf("pending", "sending", "done", "rejected", "ambiguous", "cancelled").public(),
		own("attempts", BigInt, "How often it was sent or about to be sent.", "Tentativas").unit("times").notNull().public(),
		own("revision", BigInt, "How many changes of state the row has seen.", "Revisão").notNull().public(),
		own("created_at", Timestamp, "When it was queued.", "Criado em").unit("UTC").notNull().public(),
		own("finished_at", Timestamp, "When it was done, rejected or cancelled.", "Concluído em").unit("UTC").public(),
		own("error", Text, "Why it is rejected, in doubt or not yet sent.", "Erro").personal(),
	},
}

// OutboxTables are the tables of the outbox file.
var OutboxTables = []*Table{OutboxMeta, CompanyOutbox, CompanyOutboxAttempts}

// OutboxMeta is one row about the outbox as a whole.
var OutboxMeta = &Table{
	Name: "_outbox", Doc: "One row about this outbox.", Label: "Sobre esta fila", Shape: Ledger, Key: []string{"meta_id"},
	Columns: []Column{
		own("meta_id", Surrogate, "Always 1.", "Chave").clause("CHECK (meta_id = 1)").public(),
		own("schema_version", BigInt, "Version of the tables.", "Versão do esquema").notNull().public(),
		own("identity", Text, "Ties this file to the send log beside it.", "Identidade").notNull().public(),
		own("sends", BigInt, "How many events the send log had at the last commit.", "Envios").notNull().clause("DEFAULT 0").public(),
		own("created_at", Timestamp, "When the outbox was made.", "Criado em").unit("UTC").notNull().public(),
	},
}

// openStates may still hold a password; the others may not, which the table checks.
const openStates = "('pending', 'sending', 'ambiguous')"

// CompanyOutbox is the queue of companies to create. Programs may insert rows; every column but the company's own has a default.
var CompanyOutbox = &Table{
	Name: "company_outbox", Doc: "Companies to create on the platform.", Label: "Empresas a cadastrar", Shape: Ledger, Key: []string{"id"}, Unique: []string{"intent_id"},
	Indices: [][]string{{"state", "next_attempt_at"}},
	Columns: concat([]Column{
		own("id", Surrogate, "Number of the row; never used twice.", "Número").clause("AUTOINCREMENT").public(),
		own("intent_id", Text, "The intent to create this one company.", "Intenção").notNull().
			clause("DEFAULT (lower(hex(randomblob(16)))) CHECK (length(intent_id) BETWEEN 8 AND 64 AND intent_id NOT GLOB '*[^0-9A-Za-z-]*')").public(),
	}, companyColumns(), []Column{
		own("state", Text, "Where the row stands.", "Situação").notNull().
			clause("DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'done', 'rejected', 'ambiguous', 'cancelled'))").public(),
		own("allow_duplicate", Boolean, "Whether it is sent although a company with the same CPF, CNPJ or e-mail waits, is in doubt or was created.", "Permitir duplicado").notNull().
			clause("DEFAULT 0 CHECK (allow_duplicate IN (0, 1))").public(),
		own("attempts", BigInt, "How often it was sent or about to be sent.", "Tentativas").unit("times").notNull().clause("DEFAULT 0").public(),
		own("revision", BigInt, "How many changes of state it has seen.", "Revisão").notNull().clause("DEFAULT 0").public(),
		own("next_attempt_at", Timestamp, "Not sent before this; NULL is at once.", "Próxima tentativa").unit("UTC").public(),
		own("claimed_at", Timestamp, "When it was last about to be sent.", "Enviado em").unit("UTC").
			clause("CHECK (state <> 'sending' OR claimed_at IS NOT NULL)").public(),
		own("http_status", BigInt, "Status of the platform's last answer.", "Resposta HTTP").public(),
		own("error", Text, "Why it is rejected, in doubt or not yet sent.", "Erro").personal(),
		own("created_at", Timestamp, "When it was queued.", "Criado em").unit("UTC").notNull().clause("DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))").public(),
		own("finished_at", Timestamp, "When it was done, rejected or cancelled.", "Concluído em").unit("UTC").
			clause("CHECK ((finished_at IS NULL) = (state IN " + openStates + "))").public(),
	}),
}

func companyColumns() []Column {
	private := func(name, doc, label string) Column { return own(name, Text, doc, label).personal() }
	return []Column{
		private("name", "First name of the contact.", "Nome"),
		private("surname", "Surname of the contact.", "Sobrenome"),
		private("email", "E-mail address of the user to create.", "E-mail"),
		private("password", "Password of the user to create: text as given, or a BLOB when sealed. NULL once it is not needed.", "Senha").
			clause("CHECK (password IS NULL OR state IN " + openStates + ")"),
		private("cpf", "CPF of an individual; not sent when there is a CNPJ.", "CPF"),
		private("cnpj", "CNPJ of a legal entity.", "CNPJ"),
		private("address_cep", "Postal code.", "CEP"),
		private("address_state", "Federative unit (two letters).", "UF"),
		private("address_city", "City.", "Cidade"),
		private("address_patio", "Street name.", "Logradouro"),
		private("address_number", "Street number.", "Número"),
		private("address_neighborhood", "Neighbourhood.", "Bairro"),
		private("address_complement", "Address complement.", "Complemento"),
		private("cellphone", "Mobile number.", "Celular"),
		private("responsible", "E-mail address of the responsible collaborator.", "Responsável"),
		private("has_state_inscription", "sim when the company has a state registration.", "Tem inscrição estadual"),
		private("state_inscription", "State registration.", "Inscrição estadual"),
	}
}

// CompanyOutboxAttempts is one row per time a company was about to be sent.
var CompanyOutboxAttempts = &Table{
	Name: "company_outbox_attempts", Doc: "Every attempt to create a company.", Label: "Tentativas de cadastro", Shape: Ledger, Key: []string{"attempt_id"},
	Indices: [][]string{{"outbox_id"}},
	Columns: []Column{
		own("attempt_id", Surrogate, "Number of the attempt.", "Tentativa").public(),
		own("outbox_id", BigInt, "Row of the outbox.", "Fila").notNull().clause("REFERENCES company_outbox(id)").public(),
		own("started_at", Timestamp, "When it began.", "Início").unit("UTC").notNull().public(),
		own("finished_at", Timestamp, "When its outcome was known; NULL while it is sent.", "Fim").unit("UTC").public(),
		own("outcome", Text, "done, rejected, unsent, throttled, unauthorized or ambiguous.", "Resultado").
			clause("CHECK (outcome IN ('done', 'rejected', 'unsent', 'throttled', 'unauthorized', 'ambiguous'))").public(),
		own("http_status", BigInt, "Status of the platform's answer.", "Resposta HTTP").public(),
		own("error", Text, "What went wrong.", "Erro").personal(),
	},
}

// OutboxTriggers keep every program, ours included, to the outbox's state machine, by the triggers'
// names. A row leaves the state sending with the end of its attempt, which is written first.
var OutboxTriggers = map[string]string{
	"company_outbox_begins": `CREATE TRIGGER company_outbox_begins BEFORE INSERT ON company_outbox
WHEN NEW.state <> 'pending' OR NEW.attempts <> 0
BEGIN SELECT RAISE(ABORT, 'a new row of company_outbox is pending and has no attempts'); END`,
	"company_outbox_moves": `CREATE TRIGGER company_outbox_moves BEFORE UPDATE OF state ON company_outbox
WHEN NEW.state NOT IN (OLD.state, 'ambiguous') AND OLD.state || ' to ' || NEW.state NOT IN (
  'pending to sending', 'pending to rejected', 'pending to cancelled',
  'sending to done', 'sending to rejected', 'sending to pending',
  'ambiguous to done', 'ambiguous to rejected', 'ambiguous to pending', 'rejected to pending')
BEGIN SELECT RAISE(ABORT, 'company_outbox does not allow this change of state'); END`,
	"company_outbox_sending": `CREATE TRIGGER company_outbox_sending BEFORE UPDATE OF state ON company_outbox
WHEN OLD.state = 'sending' AND NEW.state <> 'sending' AND (
  SELECT finished_at FROM company_outbox_attempts WHERE outbox_id = OLD.id ORDER BY attempt_id DESC LIMIT 1) IS NULL
BEGIN SELECT RAISE(ABORT, 'only solarmirror push takes a row of company_outbox out of the state sending'); END`,
}

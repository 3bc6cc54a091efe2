package schema

// The ledger: what the mirror knows about itself.

// LedgerTables are the tables no record feeds.
var LedgerTables = []*Table{Meta, Runs, Watermarks, Windows, Absences, Findings, Rejects, Drift, Columns, CompanyCreations, Marts, Stale, Deals}

// Meta is one row about the database as a whole.
var Meta = &Table{
	Name: "_meta", Doc: "One row about this database.", Label: "Sobre este banco", Shape: Ledger, Key: []string{"meta_id"},
	Columns: []Column{
		own("meta_id", Surrogate, "Always 1.", "Chave").clause("CHECK (meta_id = 1)").public(),
		own("base_url", Text, "The platform this mirrors; NULL until the first sync. Another one is refused.", "Endereço da plataforma").public(),
		own("dialect", Text, "What was found out about the platform's way of answering (JSON).", "Dialeto").public(),
		own("power_unit", Text, "Unit of the platform's totalPower that the first deals with enough evidence decided: kWp or Wp; NULL until then. [marts] power_unit overrules it.", "Unidade de potência").public(),
		own("schema_version", BigInt, "Version of the tables.", "Versão do esquema").notNull().public(),
		own("promotion", Text, "What a change of the tables left to do: which values are still to be moved from extra into their new columns (JSON). NULL when nothing is.", "Promoção pendente").public(),
		own("erasure_due_since", Timestamp, "When a person was erased of whom the file or its WAL may still hold old copies; NULL when they hold none. The next command that writes removes them.", "Apagamento pendente desde").unit("UTC").personal(),
		own("created_at", Timestamp, "When the database was made.", "Criado em").unit("UTC").notNull().public(),
	},
}

// Runs is one row per run of a command that reads the platform.
var Runs = &Table{
	Name: "_runs", Doc: "What ran, and how it ended.", Label: "Execuções", Shape: Ledger, Key: []string{"run_id"},
	Columns: []Column{
		own("run_id", Surrogate, "Number of the run.", "Execução").public(),
		own("command", Text, "The command or, on schedule, the job.", "Comando").notNull().public(),
		own("trigger", Text, "Who started it: manual or schedule.", "Origem").notNull().oneOf("manual", "schedule").public(),
		own("started_at", Timestamp, "When it started.", "Início").unit("UTC").notNull().public(),
		own("finished_at", Timestamp, "When it ended; NULL while it runs.", "Fim").unit("UTC").public(),
		own("outcome", Text, "How it ended: ok, partial (some streams failed), failed, interrupted; running until then.", "Resultado").notNull().oneOf("running", "ok", "partial", "failed", "interrupted").public(),
		own("pages", BigInt, "Pages read.", "Páginas").unit("pages").notNull().clause("DEFAULT 0").public(),
		own("records", BigInt, "Records read.", "Registros").unit("records").notNull().clause("DEFAULT 0").public(),
		own("inserted", BigInt, "Records not seen before.", "Novos").unit("records").notNull().clause("DEFAULT 0").public(),
		own("changed", BigInt, "Records whose content changed.", "Alterados").unit("records").notNull().clause("DEFAULT 0").public(),
		own("unchanged", BigInt, "Records read again unchanged.", "Inalterados").unit("records").notNull().clause("DEFAULT 0").public(),
		own("deleted", BigInt, "Records found to be gone.", "Excluídos").unit("records").notNull().clause("DEFAULT 0").public(),
		own("rejected", BigInt, "Records that could not be keyed.", "Rejeitados").unit("records").notNull().clause("DEFAULT 0").public(),
		own("error", Text, "What went wrong.", "Erro").personal(),
		own("streams", Text, "What became of each stream that was read: a JSON object from its name to ok, failed or interrupted.", "Fluxos").public(),
	},
}

// Watermarks is up to when each stream is complete.
var Watermarks = &Table{
	Name: "_watermarks", Doc: "Up to when each stream is complete.", Label: "Marcas d'água", Shape: Ledger, Key: []string{"stream", "pass"},
	Columns: []Column{
		streamColumn(),
		own("pass", Text, "live, or removed: the platform lists removed requests apart.", "Passagem").notNull().oneOf(Live, Removed).public(),
		own("watermark", Date, "The platform's date on which the last clean pass began: the next asks for updates from here, less overlap_days.", "Marca d'água").unit("the platform's time zone").public(),
		own("complete_through", Timestamp, "The moment up to which the mirror holds everything of this pass.", "Completo até").unit("UTC").public(),
		own("last_full_scan_at", Timestamp, "When everything was last read without a date filter.", "Última leitura completa").unit("UTC").public(),
		own("promise", Text, "What weakens the last clean pass; NULL when nothing does.", "Ressalva").public(),
	},
}

// Windows is what was read whole, or is being read.
var Windows = &Table{
	Name: "_windows", Doc: "Coverage: one row per stretch of a stream that was read whole, or is being read.", Label: "Janelas", Shape: Ledger, Key: []string{"window_id"},
	Columns: []Column{
		own("window_id", Surrogate, "Number of the window.", "Janela").public(),
		streamColumn(),
		own("pass", Text, "live or removed.", "Passagem").notNull().oneOf(Live, Removed).public(),
		own("from_date", Date, "First day of update (equipment: of creation); NULL when unbounded.", "De").public(),
		own("to_date", Date, "Last day; NULL when unbounded.", "Até").public(),
		own("state", Text, "running, or complete when read to its end.", "Situação").notNull().oneOf("running", "complete").public(),
		own("started_at", Timestamp, "When it was begun; an interrupted one keeps it.", "Início").unit("UTC").notNull().public(),
		own("cursor", BigInt, "Rows from the start of the list that were read.", "Cursor").unit("rows").notNull().clause("DEFAULT 0").public(),
		own("anchor", Text, "The last row read.", "Âncora").public(),
		own("seen", Blob, "Bitmap of the surrogate keys that were read.", "Vistos").public(),
		own("pages", BigInt, "Pages read.", "Páginas").unit("pages").notNull().clause("DEFAULT 0").public(),
		own("records", BigInt, "Records read.", "Registros").unit("records").notNull().clause("DEFAULT 0").public(),
		own("expected", BigInt, "Records the platform says there are; NULL where it does not count.", "Registros esperados").unit("records").public(),
		own("promise", Text, "What weakens the promise that no row is missing; NULL when nothing does.", "Ressalva").public(),
		own("run_id", BigInt, "The run that read it last.", "Execução").clause("REFERENCES _runs(run_id)").public(),
		own("completed_at", Timestamp, "When it was read to its end.", "Fim").unit("UTC").public(),
	},
}

// Absences is what the last complete sweep did not find.
var Absences = &Table{
	Name: "_absences", Doc: "Records that the last complete sweep did not find. Missing from the next as well, they are marked as gone.", Label: "Ausências", Shape: Ledger, Key: []string{"stream", "key"},
	Columns: []Column{
		streamColumn(),
		own("key", BigInt, "Surrogate key of the record.", "Chave").notNull().public(),
		own("first_sweep", Timestamp, "When the sweep ended that missed it first.", "Primeira varredura").unit("UTC").notNull().public(),
		own("sweeps", BigInt, "How many sweeps in a row have missed it: more than one where so many were missing that none was marked as gone.", "Varreduras").unit("sweeps").notNull().clause("DEFAULT 1").public(),
	},
}

// Findings is what the last verification of each stream found.
var Findings = &Table{
	Name: "_findings", Doc: "How the mirror differed from the platform when each stream was last verified.", Label: "Achados da verificação", Shape: Ledger,
	Key: []string{"stream", "type", "key", "kind"},
	Columns: []Column{
		streamColumn(),
		own("type", Text, "First column of the record's natural key; of an orphan the name of its surrogate key, of a total the pass.", "Tipo").notNull().public(),
		own("key", Text, "Second column of the record's natural key; of an orphan its surrogate key, of a total what was counted.", "Chave").notNull().public(),
		own("kind", Text, "How it differs: missing, extra, differs, edited, orphan or total, as verify --help explains them.", "Diferença").notNull().oneOf("missing", "extra", "differs", "edited", "orphan", "total").public(),
		own("state", Text, "pending: a sync or a full read is expected to settle it; unexplained: nothing is.", "Situação").notNull().oneOf("pending", "unexplained").public(),
		own("tables", Text, "Tables of edited and orphaned rows, separated by commas.", "Tabelas").public(),
		own("held_hash", Blob, "_hash of a record that differs: once a sync has changed it, the next difference is another one.", "Resumo do conteúdo").personal(),
		own("sweeps", BigInt, "How many sweeps in a row had missed an extra record.", "Varreduras").unit("sweeps").notNull().public(),
		own("first_seen_at", Timestamp, "When a verification first found it so.", "Visto pela primeira vez em").unit("UTC").notNull().public(),
		own("last_seen_at", Timestamp, "When the last verification found it.", "Visto pela última vez em").unit("UTC").notNull().public(),
	},
}

// Rejects is what could not be keyed, kept raw.
var Rejects = &Table{
	Name: "_rejects", Doc: "Records that could not be keyed, kept as they came.", Label: "Rejeitados", Shape: Ledger, Key: []string{"reject_id"},
	Indices: [][]string{{"stream", "raw_hash"}},
	Columns: []Column{
		own("reject_id", Surrogate, "Number of the reject.", "Rejeitado").public(),
		streamColumn(),
		own("source", Text, "Request path of the page that brought it.", "Origem").notNull().public(),
		own("reason", Text, "Why it was rejected.", "Motivo").notNull().personal(),
		own("pointer", Text, "JSON Pointer of the fault, where one place is at fault.", "Local da falha").personal(),
		own("raw", Blob, "The record as it came.", "Conteúdo").notNull().personal(),
		own("raw_hash", Blob, "Hash of raw; the same record is kept once.", "Resumo do conteúdo").notNull().personal(),
		own("run_id", BigInt, "The run that first met it.", "Execução").clause("REFERENCES _runs(run_id)").public(),
		own("first_seen_at", Timestamp, "When it was first met.", "Visto pela primeira vez em").unit("UTC").notNull().public(),
		own("replayed_at", Timestamp, "When it was loaded after all; NULL while it is rejected.", "Reprocessado em").unit("UTC").public(),
	},
}

// Drift is how the platform's records differ from the model.
var Drift = &Table{
	Name: "_drift", Doc: "How the platform's records differ from what its documentation says. Nothing of it is lost: see extra.", Label: "Divergências", Shape: Ledger,
	Key: []string{"stream", "path", "kind"},
	Columns: []Column{
		streamColumn(),
		own("path", Text, "JSON Pointer of the field, with * for every element of an array.", "Caminho").notNull().public(),
		own("kind", Text, "unknown (no such field), type (another type of value), shape (object, array or value in place of another).", "Tipo").notNull().oneOf("unknown", "type", "shape").public(),
		own("example", Text, "A value seen there.", "Exemplo").personal(),
		own("occurrences", BigInt, "How often it was seen, unchanged records not counted again.", "Ocorrências").unit("times").notNull().public(),
		own("first_seen_at", Timestamp, "When it was first seen.", "Visto pela primeira vez em").unit("UTC").notNull().public(),
		own("last_seen_at", Timestamp, "When it was last seen.", "Visto pela última vez em").unit("UTC").notNull().public(),
	},
}

// Columns is the data dictionary.
var Columns = &Table{
	Name: "_columns", Doc: "Data dictionary: one row per column.", Label: "Dicionário de dados", Shape: Ledger, Key: []string{"table_name", "column_name"},
	Columns: []Column{
		own("table_name", Text, "Table.", "Tabela").notNull().public(),
		own("column_name", Text, "Column.", "Coluna").notNull().public(),
		own("type", Text, "Declared type.", "Tipo").notNull().public(),
		own("source_path", Text, "JSON Pointer in the platform's record, with * for every element of an array; NULL for columns of the mirror's own.", "Origem").public(),
		own("description", Text, "Meaning.", "Descrição").notNull().public(),
		own("label_pt", Text, "Label in Portuguese.", "Rótulo").notNull().public(),
		own("unit", Text, "Unit; NULL where a unit makes no sense.", "Unidade").public(),
		own("personal", Boolean, "Whether it may hold personal data.", "Dado pessoal").notNull().public(),
		own("description_pt", Text, "Meaning in Portuguese.", "Descrição em português").notNull().clause("DEFAULT ''").public(),
	},
}

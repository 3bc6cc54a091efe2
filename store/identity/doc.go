// Package identity holds the one way to write, compare, mask and check what identifies a person or
// company: a CPF, a CNPJ or an e-mail address. The marts join by it, pseudonyms are computed from
// it, the outbox finds duplicates with it, and forgetting a person searches for it.
package identity

// Package identity normalizes, compares, masks and checks the values that identify a person or
// company: CPF, CNPJ and e-mail address. The marts join by the normal form, pseudonyms are computed
// from it, the outbox finds duplicates with it, and forgetting a person searches for it.
package identity

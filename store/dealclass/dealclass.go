// Package dealclass holds the lists of words that decide the class of a deal.
//
// # Model
//
// The platform sends the status of a deal as free text. The class of a deal follows from that text:
// a budget is open or lost, an order is won or cancelled. The first rule that applies decides:
//
//  1. The deal status is in Cancelled or in Lost: an order is cancelled, a budget is lost.
//  2. The deal status is in Closed: an order is won, a budget is open.
//  3. The payment status of an order is in CancelledPayment: the order is cancelled.
//  4. Otherwise an order is won and a budget is open.
//
// A status is in a list when its [Fold] equals a word of the list, so case, accents and outer white
// space do not count. A word matches a whole status, never a part of it.
//
// The configuration changes the lists of [Default] with [Extend]. No status is in Closed and in
// Cancelled or Lost ([Lists.Conflicts]), because rule 1 would silently overrule rule 2. A status in
// no list is decided by rules 3 and 4; [Lists.Knows] tells these apart, so that a person can look
// at them.
package dealclass

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/text/runes"
	"golang.org/x/text/unicode/norm"
)

// Lists are the lists of words. Words are folded, sorted and unique. The words of Cancelled, Lost
// and Closed are deal statuses, those of CancelledPayment are payment statuses.
type Lists struct {
	Cancelled, Lost, Closed, CancelledPayment []string
}

// Default returns the words in common use, in Portuguese and English. A word is missing here when
// it can mean several things: "faturado" and "pago" say nothing of the delivery, "fechado" and
// "closed" are said of won and of lost deals, "vencido" also of a late payment.
func Default() Lists {
	return Lists{
		Cancelled: words("Cancelado", "Cancelada", "Anulado", "Anulada", "Estornado", "Estornada",
			"Reembolsado", "Reembolsada", "Devolvido", "Devolvida",
			"cancelled", "canceled", "voided", "refunded", "returned"),
		Lost: words("Perdido", "Perdida", "Recusado", "Recusada", "Reprovado", "Reprovada",
			"Rejeitado", "Rejeitada", "Expirado", "Expirada", "Desistência", "Desistiu", "Abandonado", "Abandonada",
			"lost", "refused", "rejected", "declined", "expired", "withdrawn", "abandoned"),
		Closed: words("Entregue", "Concluído", "Concluída", "Finalizado", "Finalizada",
			"delivered", "completed", "finished", "finalized", "fulfilled"),
		CancelledPayment: words("cancelled"),
	}
}

func words(list ...string) []string {
	folded := make([]string, len(list))
	for i, word := range list {
		folded[i] = Fold(word)
	}
	slices.Sort(folded)
	return slices.Compact(folded)
}

// Fold returns text without case, accents and outer white space. Bytes that are not UTF-8 count as
// U+FFFD.
func Fold(text string) string {
	// Not cases.Fold: in x/text 0.42 it swaps the two cases of Cherokee letters.
	text = norm.NFD.String(text)
	text = runes.Remove(runes.In(unicode.Mn)).String(text)
	return strings.TrimSpace(strings.ToLower(text))
}

// Extend returns list with changes: a word is added, "!word" takes word out. The order of the
// changes does not count. The result is not nil, also when no word is left.
func Extend(list []string, changes ...string) ([]string, error) {
	var added, removed []string
	for _, change := range changes {
		word, negated := strings.CutPrefix(Fold(change), "!")
		word = strings.TrimSpace(word)
		switch {
		case word == "":
			return nil, errors.New("want words, and one of them is empty")
		case !negated:
			added = append(added, word)
		case !slices.Contains(list, word):
			return nil, fmt.Errorf("%q takes nothing out: %q is not one of the default words", change, word)
		default:
			removed = append(removed, word)
		}
	}
	all := words(slices.Concat(list, added)...)
	return slices.DeleteFunc(all, func(word string) bool { return slices.Contains(removed, word) }), nil
}

// Knows reports whether a deal status is in one of the lists of deal statuses.
func (l Lists) Knows(dealStatus string) bool {
	word := Fold(dealStatus)
	return slices.Contains(l.Cancelled, word) || slices.Contains(l.Lost, word) || slices.Contains(l.Closed, word)
}

// Conflict is a word of Closed that is also in another list.
type Conflict struct {
	Word  string
	Other string // the other list, by its configuration key: cancelled_statuses or lost_statuses
}

func (c Conflict) String() string {
	return fmt.Sprintf("%q is in both closed_statuses and %s, default words included; keep it in one (%q takes a default word out)", c.Word, c.Other, "!"+c.Word)
}

// Conflicts returns every conflict of the lists.
func (l Lists) Conflicts() []Conflict {
	var conflicts []Conflict
	for _, word := range l.Closed {
		if slices.Contains(l.Cancelled, word) {
			conflicts = append(conflicts, Conflict{word, "cancelled_statuses"})
		}
		if slices.Contains(l.Lost, word) {
			conflicts = append(conflicts, Conflict{word, "lost_statuses"})
		}
	}
	return conflicts
}

// IsZero reports whether l is the zero value. Lists whose words were all taken out are not.
func (l Lists) IsZero() bool {
	return l.Cancelled == nil && l.Lost == nil && l.Closed == nil && l.CancelledPayment == nil
}

// Digest returns a short text that changes with every list and stays the same otherwise.
func (l Lists) Digest() string {
	return fmt.Sprintf("%016x", xxhash.Sum64String(fmt.Sprintf("%q %q %q %q", l.Cancelled, l.Lost, l.Closed, l.CancelledPayment)))
}

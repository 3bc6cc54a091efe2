package dealclass

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		" \t\u00a0\n":                "",
		"Cancelado":                  "cancelado",
		"  CONCLUÍDA\u00a0":          "concluida",
		"conclui\u0301da":            "concluida", // decomposed
		"Em  Negociação":             "em  negociacao",
		"Cancelado, sem retorno":     "cancelado, sem retorno",
		"İptal":                      "iptal",
		"lost \u0301":                "lost", // nothing but an accent after the space
		"lost\xff":                   "lost\uFFFD",
		"\xc3":                       "\uFFFD",
		"\u0301":                     "",
		strings.Repeat("a\u0301", 9): "aaaaaaaaa",
	} {
		if got := Fold(text); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestFoldOfEveryRune: folding once is enough, for each character that there is.
func TestFoldOfEveryRune(t *testing.T) {
	t.Parallel()
	for r := range rune(utf8.MaxRune + 1) {
		if once := Fold(string(r)); Fold(once) != once {
			t.Errorf("%U: %q, then %q", r, once, Fold(once))
		}
	}
}

func TestFoldProperty(t *testing.T) {
	t.Parallel()
	bytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
	anyText := rapid.OneOf(rapid.String(), bytes)
	accent := rapid.SampledFrom([]string{"", "\u0300", "\u0301", "\u0303", "\u0327"})
	space := rapid.StringOf(rapid.RuneFrom([]rune(" \t\r\n\u00a0\u2003")))
	rapid.Check(t, func(rt *rapid.T) {
		once := Fold(anyText.Draw(rt, "text"))
		if Fold(once) != once || !utf8.ValidString(once) {
			rt.Fatalf("%q becomes %q", once, Fold(once))
		}

		word := rapid.StringMatching(`[a-z]([a-z ,-]*[a-z])?`).Draw(rt, "word")
		var spelled strings.Builder
		for _, r := range word {
			letter := string(r)
			if rapid.Bool().Draw(rt, "upper") {
				letter = strings.ToUpper(letter)
			}
			spelled.WriteString(letter + accent.Draw(rt, "accent"))
		}
		variant := space.Draw(rt, "before") + norm.NFC.String(spelled.String()) + space.Draw(rt, "after")
		if got := Fold(variant); got != word {
			rt.Fatalf("Fold(%q) = %q, want %q", variant, got, word)
		}
	})
}

func TestDefault(t *testing.T) {
	t.Parallel()
	d := Default()
	for _, list := range [][]string{d.Cancelled, d.Lost, d.Closed, d.CancelledPayment} {
		if len(list) == 0 || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("not sorted, or not unique: %q", list)
		}
		for _, word := range list {
			if Fold(word) != word {
				t.Errorf("%q is not folded", word)
			}
		}
	}
	if conflicts := d.Conflicts(); conflicts != nil {
		t.Error(conflicts)
	}
	for status, want := range map[string]bool{
		" CANCELADA ": true, "Canceled": true, "Perdido": true, "expirado": true, "Entregue": true, "Concluido": true, "DELIVERED": true,
		"": false, "Novo": false, "Faturado": false, "Pago": false, "Aprovado": false, "Fechado": false, "closed": false,
		"Pedido cancelado ontem": false, "Não cancelado": false,
	} {
		if d.Knows(status) != want {
			t.Errorf("Knows(%q) is %t", status, !want)
		}
	}
	if d := cmp.Diff([]string{"cancelled"}, d.CancelledPayment); d != "" {
		t.Error(d)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		changes []string
		want    []string
		err     string
	}{
		{name: "nothing", want: []string{"lost", "perdido"}},
		{name: "words are folded and unique", changes: []string{" Negócio PERDIDO", "LOST", "negocio perdido"}, want: []string{"lost", "negocio perdido", "perdido"}},
		{name: "taken out", changes: []string{"! Perdído ", "arquivado"}, want: []string{"arquivado", "lost"}},
		{name: "in any order", changes: []string{"!lost", "lost"}, want: []string{"perdido"}},
		{name: "all taken out", changes: []string{"!lost", "!perdido"}, want: []string{}},
		{name: "empty", changes: []string{"arquivado", " "}, err: "want words, and one of them is empty"},
		{name: "empty and taken out", changes: []string{"! "}, err: "want words, and one of them is empty"},
		{name: "nothing to take out", changes: []string{"Arquivado", "!Arquivado"}, err: `"!Arquivado" takes nothing out: "arquivado" is not one of the default words`},
	} {
		got, err := Extend([]string{"lost", "perdido"}, tc.changes...)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if d := cmp.Diff(tc.want, got); d != "" || text != tc.err || err == nil && got == nil {
			t.Errorf("%s: %s, error %q", tc.name, d, text)
		}
	}
}

func TestExtendProperty(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[A-Za-zÀ-ú]{1,3}`)
	rapid.Check(t, func(rt *rapid.T) {
		list := words(rapid.SliceOfN(word, 1, 9).Draw(rt, "list")...)
		added := rapid.SliceOf(word).Draw(rt, "added")
		out := rapid.SampledFrom(list).Draw(rt, "out")
		changes := rapid.Permutation(append(slices.Clone(added), "!"+strings.ToUpper(out))).Draw(rt, "changes")
		before := slices.Clone(list)
		got, err := Extend(list, changes...)
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(list, before) {
			rt.Fatalf("the list it was given is now %q", list)
		}
		for _, w := range words(slices.Concat(list, added)...) {
			if slices.Contains(got, w) == (w == out) {
				rt.Fatalf("%q in %q, without %q", w, got, out)
			}
		}
		if !slices.IsSorted(got) {
			rt.Fatalf("not sorted: %q", got)
		}
	})
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	l := Lists{Cancelled: []string{"done", "void"}, Lost: []string{"done", "void"}, Closed: []string{"delivered", "done"}}
	if d := cmp.Diff([]Conflict{{"done", "cancelled_statuses"}, {"done", "lost_statuses"}}, l.Conflicts()); d != "" {
		t.Error(d)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range []Lists{
		Default(), {}, {Cancelled: []string{"a", "b"}}, {Cancelled: []string{"a b"}}, {Cancelled: []string{`a" "b`}},
		{Lost: []string{"a", "b"}}, {Closed: []string{"a", "b"}}, {CancelledPayment: []string{"a", "b"}},
	} {
		if seen[l.Digest()] || len(l.Digest()) != 16 {
			t.Errorf("%q has the digest of others: %s", l, l.Digest())
		}
		seen[l.Digest()] = true
	}
}

func TestIsZero(t *testing.T) {
	t.Parallel()
	if !(Lists{}).IsZero() || Default().IsZero() || (Lists{Cancelled: []string{}}).IsZero() {
		t.Error("IsZero is wrong")
	}
}

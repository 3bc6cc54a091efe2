package config

import "strings"

// Nearest returns the candidate a mistyped word most likely meant: the shortest one that begins or
// ends with it, else the one with the fewest edits between. It is also what the shell suggests
// commands and flags with. Without candidates it is "".
func Nearest(word string, candidates []string) string {
	best, _ := nearest(word, candidates)
	return best
}

// Near is [Nearest], and "" when more than half of the word would have to change.
func Near(word string, candidates []string) string {
	best, edits := nearest(word, candidates)
	if 2*edits > len(word) {
		return ""
	}
	return best
}

func nearest(word string, candidates []string) (best string, fewest int) {
	word = strings.ToLower(word)
	for i, candidate := range candidates {
		lower := strings.ToLower(candidate)
		edits := editDistance(word, lower)
		if strings.HasPrefix(lower, word) || strings.HasSuffix(lower, word) {
			edits = 0
		}
		if i == 0 || edits < fewest || edits == 0 && fewest == 0 && len(candidate) < len(best) {
			best, fewest = candidate, edits
		}
	}
	return best, fewest
}

// editDistance is the Levenshtein distance in bytes: insertions, removals and
// replacements between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

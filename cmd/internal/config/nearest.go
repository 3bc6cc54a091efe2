package config

import "strings"

// Nearest returns the candidate a mistyped word most likely meant: one that
// begins or ends with it, else the one with the fewest edits between. It is also
// what the shell suggests commands and flags with. Without candidates it is "".
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, fewest := "", -1
	for _, candidate := range candidates {
		lower := strings.ToLower(candidate)
		edits := editDistance(word, lower)
		if strings.HasPrefix(lower, word) || strings.HasSuffix(lower, word) {
			edits = 0
		}
		if fewest < 0 || edits < fewest {
			best, fewest = candidate, edits
		}
	}
	return best
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

package config

import "strings"

// Nearest returns the candidate a mistyped word most likely meant: the shortest one that begins or
// ends with it, else the one with the fewest edits between. It is also what the shell suggests
// commands and flags with. Without candidates it is "".
func Nearest(word string, candidates []string) string {
	best, _ := nearest(word, candidates)
	return best
}

// Near is [Nearest], and "" when more than a third of the word would have to change.
func Near(word string, candidates []string) string {
	best, edits := nearest(word, candidates)
	if edits > max(1, len(word)/3) {
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

// editDistance is the number of edits in bytes between a and b: insertions, removals, replacements,
// and swaps of neighbours.
func editDistance(a, b string) int {
	var before []int // the row before row
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

package testsize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	if got := Some([]int{}); len(got) != 0 {
		t.Errorf("of no cases %v are left", got)
	}
	cases := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	counts, left := [4]int{0, 1, part, part + 1}, cases
	if Race {
		counts, left = [4]int{0, 1, 1, 2}, []int{13, 1}
	}
	if got := [4]int{Fewer(0), Fewer(1), Fewer(part), Fewer(part + 1)}; got != counts {
		t.Errorf("0, 1, %d and %d are %v, want %v", part, part+1, got, counts)
	}
	if got := Some(cases); !cmp.Equal(left, got) {
		t.Errorf("of %v are left %v, want %v", cases, got, left)
	}
}

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
	cases := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	counts, left := [4]int{0, 1, 8, 9}, cases
	if Race {
		counts, left = [4]int{0, 1, 1, 2}, []int{9, 1}
	}
	if got := [4]int{Fewer(0), Fewer(1), Fewer(8), Fewer(9)}; got != counts {
		t.Errorf("0, 1, 8 and 9 are %v, want %v", got, counts)
	}
	if got := Some(cases); !cmp.Equal(left, got) {
		t.Errorf("of %v are left %v, want %v", cases, got, left)
	}
}

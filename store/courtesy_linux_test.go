package store

import (
	"errors"
	"testing"
)

func TestCourteously(t *testing.T) {
	before, err := threadNice()
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("the work's own")
	err = courteously(func() error {
		if nice, err := threadNice(); err != nil || nice != min(before+niceness, 19) {
			t.Errorf("the work is done at %d (%v), begun at %d", nice, err, before)
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("got the error %v", err)
	}
	for range 100 { // on whatever threads there are
		if nice, err := threadNice(); err != nil || nice != before {
			t.Fatalf("afterwards others work at %d (%v)", nice, err)
		}
	}
	defer func() {
		if got := recover(); got != failure {
			t.Errorf("the caller sees the panic %v", got)
		}
	}()
	_ = courteously(func() error { panic(failure) })
}

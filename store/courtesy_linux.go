package store

import (
	"runtime"
	"syscall"
)

// niceness is by how much work is nicer than the rest of the process; the kernel then gives it a tenth of what it gives to the others.
const niceness = 10

// courteously does work on a thread of its own, which leaves the processor to whoever else wants it: making a copy takes a core for as long as it
// takes, and where there are but two a sync would feel that. A panic of the work is the caller's.
func courteously(work func() error) (err error) {
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		runtime.LockOSThread() // for good: what is nice cannot be made normal again, so the thread ends with this goroutine
		giveWay()
		err = work()
	}()
	<-done
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// giveWay makes the calling thread nice. Where it may not, it is not.
func giveWay() {
	const maxNice = 19
	if nice, err := threadNice(); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, min(nice+niceness, maxNice))
	}
}

// threadNice returns how nice the calling thread is, 0 normally. The system call itself has it as 20 less that, to be never negative.
func threadNice() (int, error) {
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	return 20 - priority, err
}

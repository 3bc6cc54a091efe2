package doctor

import (
	"context"
	"fmt"

	"solarmirror/cmd/internal/words"
)

// fileSystem describes whether SQLite's WAL works on a file system. A WAL needs memory that all
// programs with the file open share; programs on two machines share none.
type fileSystem struct {
	name    string // the usual name; "" for a suitable or unknown file system
	network bool   // other machines may open the file
	checked bool   // false where this operating system has no check
}

func checkFileSystem(_ context.Context, f *facts) Finding {
	dir := f.files.Dir
	found, err := f.fileSystem(dir)
	const remedy = "set [mirror] path to a local disk (df -T shows them) and run \"solarmirror sync\"; give readers elsewhere a copy"
	switch {
	case err != nil:
		return skip(fmt.Sprintf("the file system of %s cannot be looked at: %v", dir, err))
	case !found.checked:
		return skip("not checked on this system")
	case found.network:
		return fail(remedy, "%s lies on %s, a network file system: readers of other machines get a damaged view, or damage the file", dir, found.name)
	case found.name != "":
		return warn(remedy, "%s lies on %s, where a WAL may not work or the file may not last", dir, found.name)
	}
	return pass("%s lies on a local disk", dir)
}

// Limits of the free disk space, in bytes.
const (
	warnBelow = 1 << 30  // for a small database too
	failBelow = 32 << 20 // a sync is likely to fail, since its WAL grows to 16 MiB
)

func checkFreeDisk(_ context.Context, f *facts) Finding {
	files := f.files
	if !files.FreeKnown {
		return skip("not checked on this system")
	}
	if files.Free < failBelow {
		return fail("make room: df -h "+files.Dir, "%s free on the disk of %s; a sync needs %s at least", words.Bytes(files.Free), files.Dir, words.Bytes(failBelow))
	}
	// A migration may need as much space as the file has now, and so does a copy.
	if wanted := max(2*files.Size, warnBelow); files.Free < wanted {
		return warn("make room: df -h "+files.Dir, "%s free on the disk of %s; %s would do, twice the database and 1 GiB at least", words.Bytes(files.Free), files.Dir, words.Bytes(wanted))
	}
	return pass("%s free; the database has %s", words.Bytes(files.Free), words.Bytes(files.Size))
}

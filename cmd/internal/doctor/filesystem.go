package doctor

import (
	"context"
	"fmt"

	"solarmirror/cmd/internal/words"
)

// fileSystem is what matters of a file system to SQLite's WAL, which needs memory shared by all
// programs that have the file open. Two machines never share memory.
type fileSystem struct {
	name    string // as people call it; "" when it is an ordinary one, or not known
	network bool   // other machines may have the file open
	checked bool   // this system can tell
}

func checkFileSystem(_ context.Context, f *facts) Finding {
	dir := f.files.Dir
	at, err := f.fileSystem(dir)
	const remedy = "set [mirror] path to a local disk (df -T shows them) and run \"solarmirror sync\"; give readers elsewhere a copy"
	switch {
	case err != nil:
		return skip(fmt.Sprintf("the file system of %s cannot be looked at: %v", dir, err))
	case !at.checked:
		return skip("not checked on this system")
	case at.network:
		return fail(remedy, "%s lies on %s, a network file system: readers of other machines get a damaged view, or damage the file", dir, at.name)
	case at.name != "":
		return warn(remedy, "%s lies on %s, where a WAL may not work or the file may not last", dir, at.name)
	}
	return pass("%s lies on a local disk", dir)
}

// Free disk, in bytes.
const (
	leastFree   = 1 << 30  // less is worth a warning, however small the database is
	leastForWAL = 32 << 20 // with less a sync is likely to fail: the WAL grows to 16 MiB
)

func checkFreeDisk(_ context.Context, f *facts) Finding {
	files := f.files
	if !files.FreeKnown {
		return skip("not checked on this system")
	}
	if files.Free < leastForWAL {
		return fail("make room: df -h "+files.Dir, "%s free on the disk of %s; a sync needs %s at least", words.Bytes(files.Free), files.Dir, words.Bytes(leastForWAL))
	}
	// A migration may take what the file has now, and copies are made of it.
	if wanted := max(2*files.Size, leastFree); files.Free < wanted {
		return warn("make room: df -h "+files.Dir, "%s free on the disk of %s; %s would do, twice the database and 1 GiB at least", words.Bytes(files.Free), files.Dir, words.Bytes(wanted))
	}
	return pass("%s free; the database has %s", words.Bytes(files.Free), words.Bytes(files.Size))
}

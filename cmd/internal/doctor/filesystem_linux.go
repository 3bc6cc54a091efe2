package doctor

import (
	"os"
	"syscall"
)

// fileSystems are those unfit for a WAL, or doubtful, by their number in statfs(2) (linux/magic.h).
// virtiofs has that of FUSE; an overlay may have a network below it.
var fileSystems = map[uint32]fileSystem{
	0x6969:     {name: "NFS", network: true},
	0x517B:     {name: "SMB", network: true},
	0xFE534D42: {name: "SMB", network: true},
	0xFF534D42: {name: "SMB (CIFS)", network: true},
	0x00C36400: {name: "Ceph", network: true},
	0x5346414F: {name: "AFS", network: true},
	0x0BD00BD0: {name: "Lustre", network: true},
	0x47504653: {name: "GPFS", network: true},
	0x01161970: {name: "GFS2", network: true},
	0x01021997: {name: "9p"},
	0x65735546: {name: "FUSE or virtiofs"},
	0x786F4256: {name: "a VirtualBox share"},
	0x794C7630: {name: "an overlay, such as a container's own layer"},
}

// fileSystemOf looks at the file system of a directory.
func fileSystemOf(dir string) (fileSystem, error) {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return fileSystem{}, os.NewSyscallError("statfs", err)
	}
	return fileSystemOfType(uint32(at.Type)), nil
}

func fileSystemOfType(magic uint32) fileSystem {
	known := fileSystems[magic]
	known.checked = true
	return known
}

// access asks the system whether this user may read, or write, path. It opens nothing: closing a
// database file would drop the locks that SQLite holds on it for this process.
func access(path string, write bool) error {
	const mayRead, mayWrite = 4, 2
	mode := uint32(mayRead)
	if write {
		mode = mayWrite
	}
	return syscall.Access(path, mode)
}

package doctor

import (
	"os"
	"syscall"
)

// unsuitable lists the file systems on which a WAL fails or may fail, by their f_type in statfs(2)
// (linux/magic.h). virtiofs has the f_type of FUSE. An overlay may lie on a network file system.
var unsuitable = map[uint32]fileSystem{
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

func fileSystemOf(dir string) (fileSystem, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return fileSystem{}, os.NewSyscallError("statfs", err)
	}
	return fileSystemOfType(uint32(stat.Type)), nil
}

func fileSystemOfType(magic uint32) fileSystem {
	found := unsuitable[magic]
	found.checked = true
	return found
}

// access returns an error when this user may not read, or write, path. It does not open the file:
// closing a database file drops the locks that SQLite holds on it in this process.
func access(path string, write bool) error {
	const readable, writable = 4, 2 // R_OK and W_OK of access(2)
	mode := uint32(readable)
	if write {
		mode = writable
	}
	return syscall.Access(path, mode)
}

package doctor

import (
	"path/filepath"
	"testing"
)

func TestFileSystemOfType(t *testing.T) {
	t.Parallel()
	for magic, want := range map[uint32]fileSystem{
		0xEF53:     {checked: true}, // ext4
		0x58465342: {checked: true}, // XFS
		0x01021994: {checked: true}, // tmpfs
		0x6969:     {name: "NFS", network: true, checked: true},
		0xFF534D42: {name: "SMB (CIFS)", network: true, checked: true},
		0x01021997: {name: "9p", checked: true},
		0x65735546: {name: "FUSE or virtiofs", checked: true},
	} {
		if got := fileSystemOfType(magic); got != want {
			t.Errorf("%#x is %+v, want %+v", magic, got, want)
		}
	}
}

func TestLookingAtADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at, err := fileSystemOf(dir)
	if err != nil || !at.checked {
		t.Errorf("%+v, %v", at, err)
	}
	missing := filepath.Join(dir, "missing")
	if _, err := fileSystemOf(missing); err == nil {
		t.Error("a missing directory has a file system")
	}
	for _, write := range []bool{false, true} {
		if err := access(dir, write); err != nil {
			t.Errorf("access(%v) to our own directory: %v", write, err)
		}
		if err := access(missing, write); err == nil {
			t.Errorf("access(%v) to a missing directory", write)
		}
	}
}

// Reads what this repository writes with Go's own packages (golang.org/x/mod/sumdb/note and tlog): a log as files, its
// signed checkpoint, its cosignatures and a proof. It also writes a cosignature, which this repository must accept.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	result, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(result)
}

func run(args []string) (map[string]interface{}, error) {
	switch args[0] {
	case "log":
		return readLog(args[1], args[2])
	case "proof":
		return readProof(args[1], args[2], args[3])
	case "cosign":
		return cosign(args[1], args[2])
	}
	return nil, errors.New("what?")
}

// Verifies a cosignature as C2SP tlog-cosignature defines it. Go's package accepts verifiers of any type.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
	time uint64
}

func (c *cosigner) Name() string    { return c.name }
func (c *cosigner) KeyHash() uint32 { return c.hash }
func (c *cosigner) Verify(msg, sig []byte) bool {
	if len(sig) != 72 {
		return false
	}
	c.time = binary.BigEndian.Uint64(sig)
	return ed25519.Verify(c.key, cosigned(c.time, msg), sig[8:])
}

func cosigned(time uint64, msg []byte) []byte {
	return append([]byte(fmt.Sprintf("cosignature/v1\ntime %d\n", time)), msg...)
}

func keyHash(name string, key []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return binary.BigEndian.Uint32(sum[:])
}

func newCosigner(vkey string) (*cosigner, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("no verifier key: " + vkey)
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 33 || key[0] != 4 {
		return nil, errors.New("no key of a witness: " + vkey)
	}
	hash := keyHash(parts[0], key)
	if fmt.Sprintf("%08x", hash) != parts[1] {
		return nil, errors.New("another hash: " + vkey)
	}
	return &cosigner{name: parts[0], hash: hash, key: key[1:]}, nil
}

// Opens a note by the log's key. Go's package refuses a note that no known key has signed.
func open(text []byte, vkey string, others ...note.Verifier) (*note.Note, tlog.Tree, error) {
	log, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, tlog.Tree{}, err
	}
	opened, err := note.Open(text, note.VerifierList(append([]note.Verifier{log}, others...)...))
	if err != nil {
		return nil, tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return nil, tlog.Tree{}, err
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != 32 {
		return nil, tlog.Tree{}, errors.New("no root")
	}
	tree := tlog.Tree{N: size}
	copy(tree.Hash[:], root)
	return opened, tree, nil
}

type tiles string

func (t tiles) Height() int                     { return 8 }
func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range wanted {
		// Go's path contains the height, and C2SP's path does not.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(string(t), path))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func readLog(folder, vkey string) (map[string]interface{}, error) {
	text, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	if err != nil {
		return nil, err
	}
	_, tree, err := open(text, vkey)
	if err != nil {
		return nil, err
	}
	// It checks every tile that it reads against the root.
	hashes := tlog.TileHashReader(tree, tiles(folder))
	checked := int64(0)
	for from := int64(0); from < tree.N; from += 256 {
		width := tree.N - from
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: 8, L: -1, N: from / 256, W: int(width)}
		path := strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)
		bundle, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return nil, err
		}
		for ; len(bundle) > 0; checked++ {
			length := int(binary.BigEndian.Uint16(bundle))
			entry := bundle[2 : 2+length]
			bundle = bundle[2+length:]
			leaf, err := hashes.ReadHashes([]int64{tlog.StoredHashIndex(0, checked)})
			if err != nil {
				return nil, err
			}
			if leaf[0] != tlog.RecordHash(entry) {
				return nil, fmt.Errorf("entry %d has another hash", checked)
			}
		}
	}
	if tree.N > 1 {
		proof, err := tlog.ProveTree(tree.N, tree.N/2, hashes)
		if err != nil {
			return nil, err
		}
		old, err := tlog.TreeHash(tree.N/2, hashes)
		if err != nil {
			return nil, err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, tree.N/2, old); err != nil {
			return nil, err
		}
	}
	return map[string]interface{}{"size": tree.N, "checked": checked}, nil
}

func readProof(file, vkey, witness string) (map[string]interface{}, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	head, checkpoint, ok := bytes.Cut(text, []byte("\n\n"))
	if !ok {
		return nil, errors.New("no checkpoint")
	}
	lines := strings.Split(string(head), "\n")
	if lines[0] != "c2sp.org/tlog-proof@v1" {
		return nil, errors.New("no proof")
	}
	entry, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil {
		return nil, err
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil {
		return nil, err
	}
	var proof tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return nil, err
		}
		proof = append(proof, hash)
	}
	who, err := newCosigner(witness)
	if err != nil {
		return nil, err
	}
	opened, tree, err := open(checkpoint, vkey, who)
	if err != nil {
		return nil, err
	}
	if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(entry)); err != nil {
		return nil, err
	}
	names := []string{}
	for _, sig := range opened.Sigs {
		names = append(names, sig.Name)
	}
	return map[string]interface{}{"index": index, "size": tree.N, "signed": names, "time": who.time}, nil
}

// Signs a checkpoint as a witness, with a fixed key and time.
func cosign(file, name string) (map[string]interface{}, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	body, _, ok := bytes.Cut(text, []byte("\n\n"))
	if !ok {
		return nil, errors.New("no note")
	}
	body = append(body, '\n')
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	public := append([]byte{4}, key.Public().(ed25519.PublicKey)...)
	hash := keyHash(name, public)
	const time = 1767225600
	sig := make([]byte, 12)
	binary.BigEndian.PutUint32(sig, hash)
	binary.BigEndian.PutUint64(sig[4:], time)
	sig = append(sig, ed25519.Sign(key, cosigned(time, body))...)
	line := fmt.Sprintf("— %s %s\n", name, base64.StdEncoding.EncodeToString(sig))
	vkey := fmt.Sprintf("%s+%08x+%s", name, hash, base64.StdEncoding.EncodeToString(public))
	return map[string]interface{}{"line": line, "key": vkey}, nil
}

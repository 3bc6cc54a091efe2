// Package flatten turns one raw record of the platform into rows, following the schema. It is pure: bytes in, rows out.
//
// A [Plan] is compiled once per root table. It is a tree that mirrors the documented record: each documented member leads to a
// column, to an object whose members are inlined or have a table of their own, or to an array with a table of its own. A [Flattener]
// walks a record's tokens along that tree and appends rows to a [Batch]. [Plan.Key] reads ahead to the natural key alone, so that
// records that have not changed need not be decoded. A [Crew] does the work of one Flattener on several processors.
//
// # Nothing is lost
//
// Every value of a record ends in exactly one of these places, but for null and absence, which are the same for documented fields, and
// for arrays and inlined objects without anything in them:
//
//   - its column, when the type fits;
//   - its column, noted as drift, when a lossless conversion makes it fit ("12.50" → 12.5, 123 → "123", "true" → 1, an instant
//     with another offset → UTC, one object where an array is documented → one row);
//   - its column and extra, when the column can only hold it rounded (a number that float64 cannot, a fraction of a millisecond);
//   - extra, when no column exists or none can hold it. Extra is a flat JSON object from JSON Pointer to the raw value;
//     an unknown value stands there once, whole, at the highest unknown path.
//
// Where an object stands in place of an array, the pointers of its members have no index, as in the record: /structure/new. Only a
// member whose name could be an index gets one before it, /structure/0/7, lest it read as an element.
//
// [Rebuild] is the inverse, and the proof: the tests rebuild random records from their rows.
//
// A record that cannot be keyed at all is refused as a [Reject]: not an object, no identifier, duplicate names, invalid
// UTF-8. Decoding is as strict as go-json-experiment/json/jsontext, on purpose: what a lenient decoder resolves in silence
// (the last of two equal names wins) is data lost in silence.
//
// # Same content
//
// [Canonical] hashes a record's content whatever the order of its members and its white space, so that a record merely written
// differently is not taken for a change.
package flatten

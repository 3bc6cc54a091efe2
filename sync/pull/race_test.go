//go:build race

package pull

// raceDetector makes everything some ten times slower, and finds in one trial what it finds in many.
const raceDetector = true

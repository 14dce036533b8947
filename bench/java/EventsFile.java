import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A stream of events as numbers: how many, then a column each for kinds, times, keys, words and numbers. Texts are made
 * of numbers once, and shared by the events that have them.
 */
final class EventsFile {
    final int count;
    final int[] kinds;
    final int[] times;
    final int[] values;
    private final int[] keys;
    private final int[] texts;
    private final String[] names;
    private final String[] words;

    EventsFile(String path) throws IOException {
        IntBuffer read = java.nio.ByteBuffer.wrap(Files.readAllBytes(Path.of(path)))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asIntBuffer();
        count = read.get(0);
        kinds = new int[count];
        times = new int[count];
        keys = new int[count];
        texts = new int[count];
        values = new int[count];
        read.position(1);
        read.get(kinds).get(times).get(keys).get(texts).get(values);
        names = named("k", keys);
        words = named("w", texts);
    }

    String key(int index) {
        return names[keys[index]];
    }

    /** Nothing, where an event has no word. */
    String word(int index) {
        return texts[index] < 0 ? null : words[texts[index]];
    }

    private static String[] named(String prefix, int[] numbers) {
        int most = -1;
        for (int number : numbers) {
            most = Math.max(most, number);
        }
        String[] found = new String[most + 1];
        for (int index = 0; index <= most; index++) {
            found[index] = prefix + index;
        }
        return found;
    }
}

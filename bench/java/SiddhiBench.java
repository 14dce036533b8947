import com.sun.management.OperatingSystemMXBean;
import io.siddhi.core.SiddhiAppRuntime;
import io.siddhi.core.SiddhiManager;
import io.siddhi.core.event.Event;
import io.siddhi.core.query.output.callback.QueryCallback;
import io.siddhi.core.stream.input.InputHandler;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A stream of events through a Siddhi query, several times, each time later; a line for each: matches, seconds on the
 * processor and by the clock. What is read and made of the file is there before the clock starts.
 */
public final class SiddhiBench {
    private static long matches;

    /** Arguments: the file of events, that of the app, how many times, how much later each, and streams. */
    public static void main(String[] arguments) throws Exception {
        EventsFile file = new EventsFile(arguments[0]);
        int rounds = Integer.parseInt(arguments[2]);
        int later = Integer.parseInt(arguments[3]);
        SiddhiManager manager = new SiddhiManager();
        SiddhiAppRuntime runtime = manager.createSiddhiAppRuntime(Files.readString(Path.of(arguments[1])));
        runtime.addCallback("matches", new QueryCallback() {
            @Override
            public void receive(long time, Event[] fresh, Event[] gone) {
                matches += fresh == null ? 0 : fresh.length;
            }
        });
        InputHandler[] inputs = new InputHandler[arguments.length - 4];
        for (int index = 0; index < inputs.length; index++) {
            inputs[index] = runtime.getInputHandler(arguments[index + 4]);
        }
        runtime.start();
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int round = 0; round < rounds; round++) {
            long base = (long) round * later * 1000;
            Object[][] rows = new Object[file.count][];
            for (int index = 0; index < file.count; index++) {
                rows[index] = new Object[] {file.key(index), file.values[index], base + file.times[index] * 1000L};
            }
            System.gc();
            matches = 0;
            long busy = system.getProcessCpuTime();
            long begin = System.nanoTime();
            for (int index = 0; index < file.count; index++) {
                inputs[file.kinds[index]].send((Long) rows[index][2], rows[index]);
            }
            double wall = (System.nanoTime() - begin) / 1e9;
            double cpu = (system.getProcessCpuTime() - busy) / 1e9;
            System.out.println(matches + " " + cpu + " " + wall);
        }
        System.exit(0);
    }
}

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import com.espertech.esper.common.client.EventSender;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A stream of events through an Esper statement, several times, each time later; a line for each: matches, seconds on
 * the processor and by the clock. What is read and made of the file is there before the clock starts.
 */
public final class EsperBench {
    /** What all events are, whatever they are called. */
    public static final class Event {
        private final String key;
        private final String text;
        private final int value;
        private final long time;

        Event(String key, String text, int value, long time) {
            this.key = key;
            this.text = text;
            this.value = value;
            this.time = time;
        }

        public String getKey() {
            return key;
        }

        public String getText() {
            return text;
        }

        public int getValue() {
            return value;
        }

        public long getTime() {
            return time;
        }
    }

    private static long matches;

    /** Arguments: the file of events, that of the statement, how many times, how much later each, and event types. */
    public static void main(String[] arguments) throws Exception {
        EventsFile file = new EventsFile(arguments[0]);
        int rounds = Integer.parseInt(arguments[2]);
        int later = Integer.parseInt(arguments[3]);
        Configuration settings = new Configuration();
        for (int index = 4; index < arguments.length; index++) {
            settings.getCommon().addEventType(arguments[index], Event.class);
        }
        settings.getRuntime().getThreading().setInternalTimerEnabled(false);
        settings.getRuntime().getThreading().setListenerDispatchPreserveOrder(false);
        settings.getRuntime().getThreading().setInsertIntoDispatchPreserveOrder(false);
        EPRuntime runtime = EPRuntimeProvider.getDefaultRuntime(settings);
        EPEventService service = runtime.getEventService();
        service.advanceTime(0);
        EPCompiled compiled = EPCompilerProvider.getCompiler()
                .compile(Files.readString(Path.of(arguments[1])), new CompilerArguments(settings));
        for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
            if ("matches".equals(statement.getName())) {
                statement.addListener((fresh, gone, from, by) -> matches += fresh == null ? 0 : fresh.length);
            }
        }
        EventSender[] senders = new EventSender[arguments.length - 4];
        for (int index = 0; index < senders.length; index++) {
            senders[index] = service.getEventSender(arguments[index + 4]);
        }
        int count = file.count;
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int round = 0; round < rounds; round++) {
            long base = (long) round * later;
            Event[] events = new Event[count];
            for (int index = 0; index < count; index++) {
                events[index] = new Event(
                        file.key(index), file.word(index), file.values[index], base + file.times[index]);
            }
            System.gc();
            matches = 0;
            long busy = system.getProcessCpuTime();
            long begin = System.nanoTime();
            long now = -1;
            for (int index = 0; index < count; index++) {
                Event event = events[index];
                if (event.time != now) {
                    now = event.time;
                    service.advanceTime(now * 1000);
                }
                senders[file.kinds[index]].sendEvent(event);
            }
            service.advanceTime((base + later - 1) * 1000);
            double wall = (System.nanoTime() - begin) / 1e9;
            double cpu = (system.getProcessCpuTime() - busy) / 1e9;
            System.out.println(matches + " " + cpu + " " + wall);
        }
        System.exit(0);
    }
}

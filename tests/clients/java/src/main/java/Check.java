import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Starts the programs of KUBE_API_TEST_DIR, as tests with kube-api-test do, and prints what it sees of them. */
class Check {
  public static void main(String[] args) throws Exception {
    var server = new KubeAPIServer(KubeAPIServerConfigBuilder.anAPIServerConfig().withOfflineMode(true).build());
    server.start();
    try (var client =
        new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(server.getKubeConfigYaml())).build()) {
      var maps = client.configMaps().inNamespace("default");
      var seen = new LinkedBlockingQueue<String>();
      var informer = maps.withLabel("check").inform(new ResourceEventHandler<ConfigMap>() {
        public void onAdd(ConfigMap map) {
          seen.add("added " + map.getMetadata().getName() + " " + map.getData());
        }

        public void onUpdate(ConfigMap before, ConfigMap map) {
          seen.add("updated " + map.getMetadata().getName() + " " + map.getData());
        }

        public void onDelete(ConfigMap map, boolean unknown) {
          seen.add("deleted " + map.getMetadata().getName());
        }
      });
      var one = named("one").addToData("a", "b").build();
      maps.resource(one).create();
      System.out.println(seen.poll(20, TimeUnit.SECONDS));
      maps.withName("one").edit(map -> new ConfigMapBuilder(map).addToData("c", "d").build());
      System.out.println(seen.poll(20, TimeUnit.SECONDS));
      maps.resource(named("one").addToData("e", "f").build()).forceConflicts().serverSideApply();
      System.out.println(seen.poll(20, TimeUnit.SECONDS));
      try {
        maps.resource(one).create();
      } catch (KubernetesClientException error) {
        System.out.println(error.getStatus().getMessage());
      }
      maps.withName("one").delete();
      System.out.println(seen.poll(20, TimeUnit.SECONDS));
      var service = client.services().inNamespace("default").withName("kubernetes").get();
      System.out.println("the API server is at " + service.getSpec().getClusterIP());
      System.out.println("namespaces: " + client.namespaces().list().getItems().stream()
          .map(item -> item.getMetadata().getName()).sorted().toList());
      informer.stop();
    } finally {
      server.stop();
    }
  }

  private static ConfigMapBuilder named(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).addToLabels("check", "yes").endMetadata();
  }
}
